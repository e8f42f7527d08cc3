"""The scorecard says who felt a fault and how long it took until all was well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from reports import evidence
from reports.recovery import scorecard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_fault_that_healed_is_followed_by_a_success_and_by_calm(make_run: Callable[..., Path]) -> None:
    (score,) = scorecard(evidence.read(make_run(fault=True)))
    assert score.felt > 0
    assert score.first_ok_ms is not None
    assert 0 < score.first_ok_ms < 200
    assert score.baseline_ms is not None
    assert score.calm_ms is not None
    assert score.calm_ms % 250 == 0


def test_a_fault_that_never_healed_has_no_recovery(make_run: Callable[..., Path]) -> None:
    folder = make_run(fault=True)
    faults = pq.read_table(folder / "faults.parquet")
    at = faults.schema.get_field_index("healed_ns")
    faults = faults.set_column(at, "healed_ns", [[None]]).cast(faults.schema)
    pq.write_table(faults, folder / "faults.parquet")
    (score,) = scorecard(evidence.read(folder))
    assert (score.first_ok_ms, score.calm_ms, score.drained_ms) == (None, None, None)
    assert score.felt > 0


def test_an_outbox_that_was_seen_empty_after_healing_is_drained(make_run: Callable[..., Path]) -> None:
    (score,) = scorecard(evidence.read(make_run(fault=True)))
    assert score.drained_ms is not None
    assert score.drained_ms > 0


def test_without_operations_nothing_is_claimed_of_recovery(make_run: Callable[..., Path]) -> None:
    folder = make_run(fault=True)
    (folder / "operations.parquet").unlink()
    (score,) = scorecard(evidence.read(folder))
    assert (score.felt, score.first_ok_ms, score.calm_ms) == (0, None, None)
