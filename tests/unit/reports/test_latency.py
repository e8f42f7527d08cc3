"""Quantiles are values that were measured, and are only given where there is something beyond them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from reports import evidence, latency

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_quantile_is_one_of_the_values_and_never_between_two() -> None:
    values = np.array([1.0, 2.0, 3.0, 1000.0])
    p50, *_, most = latency.exact(values)
    assert (p50, most) == (2.0, 1000.0)


def test_ranks_are_whole_numbers_where_floats_would_slip() -> None:
    values = np.arange(1.0, 1001.0)
    assert latency.exact(values) == (500.0, 900.0, 990.0, 999.0, 1000.0)


def test_a_quantile_without_a_value_beyond_it_is_not_given() -> None:
    assert latency.exact(np.arange(1.0, 1000.0))[3] is None
    assert latency.exact(np.array([7.0])) == (None, None, None, None, 7.0)
    assert latency.exact(np.array([])) == (None,) * 5


def test_response_time_counts_from_the_intention_and_service_time_from_the_sending(
    make_run: Callable[..., Path],
) -> None:
    tables = latency.tables(evidence.read(make_run()))
    hold = next(row for row in tables.whole if (row.operation, row.outcome) == ("hold", "all"))
    *_, response_ms = hold.spread.response_ms
    *_, service_ms = hold.spread.service_ms
    assert response_ms is not None
    assert service_ms is not None
    assert 0.02 <= response_ms - service_ms <= 0.12


def test_what_was_never_answered_is_counted_and_has_no_latency(make_run: Callable[..., Path]) -> None:
    tables = latency.tables(evidence.read(make_run(fault=True)))
    unknown = next(row for row in tables.whole if (row.operation, row.outcome) == ("hold", "info"))
    assert unknown.unanswered == unknown.count > 0
    assert unknown.spread.response_ms == (None,) * 5


def test_the_phases_around_a_fault_share_out_every_operation_once(make_run: Callable[..., Path]) -> None:
    tables = latency.tables(evidence.read(make_run(fault=True)))
    ((fault, rows),) = tables.around
    holds = [row for row in rows if row.operation == "hold"]
    assert fault.name == "redis cut"
    assert [row.phase for row in holds] == ["before", "during", "after"]
    assert sum(row.count for row in holds) == 200
    before, during, _ = (row.spread.response_ms[0] or 0 for row in holds)
    assert during > 2 * before > 0


def test_nanoseconds_survive_a_machine_that_has_been_up_for_a_year(make_run: Callable[..., Path]) -> None:
    # Two instants near 9.1e15 ns, which a float no longer holds apart.
    run = evidence.read(make_run())
    assert run.operations is not None
    service_ns = run.operations["service_ms"].to_numpy() * 1e6
    assert np.allclose(service_ns, np.round(service_ns), atol=1e-3)


def test_the_csv_has_a_line_for_each_row_and_measure(make_run: Callable[..., Path]) -> None:
    tables = latency.tables(evidence.read(make_run(fault=True)))
    lines = list(csv.DictReader(latency.csv(tables).splitlines()))
    rows = len(tables.whole) + sum(len(part) for _, part in tables.around)
    assert len(lines) == 2 * rows
    assert {line["measure"] for line in lines} == {"response", "service"}
    assert {line["phase"] for line in lines if line["fault"] == "redis cut"} == {"before", "during", "after"}
