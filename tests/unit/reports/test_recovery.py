"""The scorecard says who felt a fault and how long it took until all was well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from checker import schemas
from checker.verdict import Judgement
from reports import evidence, write
from reports.added import added
from reports.latency import tables
from reports.recovery import scorecard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict


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


def admitted(folder: Path, *told: tuple[str, str, float]) -> Path:
    """Add by whom commands were let in, at instants in ms after the healing, and let the fault be one of Redis."""
    faults = pq.read_table(folder / "faults.parquet").to_pylist()
    healed_ns = faults[0]["healed_ns"]
    faults[0]["where"] = "redis-a"
    pq.write_table(pa.Table.from_pylist(faults, schemas.FAULTS), folder / "faults.parquet")
    rows = [
        {"mono_ns": healed_ns + int(at * 1e6), "source": f"admission/{node}", "metric": by, "value": 1.0}
        for node, by, at in told
    ]
    samples = [pq.read_table(folder / "samples.parquet"), pa.Table.from_pylist(rows, schemas.SAMPLES)]
    pq.write_table(pa.concat_tables(samples), folder / "samples.parquet")
    return folder


def test_redis_is_back_when_the_slowest_node_has_asked_it_again(make_run: Callable[..., Path]) -> None:
    told = (("a", "redis", 20), ("b", "local-fallback", 30), ("b", "redis", 400), ("a", "redis", 500))
    folder = admitted(make_run(fault=True), ("b", "redis", -900), *told)
    (score,) = scorecard(evidence.read(folder))
    assert (score.of_redis, score.redis_ms) == (True, 400)


def test_a_node_that_never_asks_redis_again_is_not_back(make_run: Callable[..., Path]) -> None:
    folder = admitted(make_run(fault=True), ("a", "redis", 20), ("b", "local-fallback", 30))
    (score,) = scorecard(evidence.read(folder))
    assert (score.of_redis, score.redis_ms) == (True, None)


def test_report_and_summary_say_what_a_fault_added_and_when_redis_was_asked_again(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = admitted(make_run(fault=True), ("a", "redis", 20), ("b", "redis", 400))
    write(folder, make_verdict(folder, Judgement.VALID))
    page, summary = (folder / "report.html").read_text(), (folder / "summary.md").read_text()
    assert "Latency that the faults added" in page
    assert "service time p50" in page
    assert "Admission: redis again" in page
    assert "| added to hold by a fault, ms | before | during | after |" in summary
    assert "response time (from when it was intended to its answer), p50" in summary
    assert "service time (from when it was sent to its answer), p50" in summary
    assert "at the slowest node: 400 ms after healing" in summary


def test_what_was_added_is_the_difference_to_before(make_run: Callable[..., Path]) -> None:
    rows = added(tables(evidence.read(make_run(fault=True))))
    assert {row.measure for row in rows} == {"response", "service"}
    told = [row for row in rows if row.before_ms is not None and row.during_ms is not None]
    assert told
    assert all(
        row.during_added_ms == row.during_ms - row.before_ms
        for row in told
        if row.during_ms and row.before_ms
    )
