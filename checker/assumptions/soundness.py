"""Assumptions of evidence: what must hold for a finding to mean anything, whatever it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption
from checker.trail.completeness import broken_links, differences
from checker.trail.record import TrailStatus, read_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence

DRIFT_MS_MAX: Final = 1.0
SHOWN: Final = 3
SHARD_SHIFT: Final = 40  # an operation's number is shard << 40 | sequence, counted from 0


def trail_complete() -> Assumption:
    """Require every change that was recorded, and no other, and that they lead from what stood there to the state at rest."""
    return Assumption(name="trail_complete", kind="evidence")


@measures(trail_complete, "evidence")
def _trail_complete(evidence: Evidence, _parameters: Parameters) -> Measured:
    required = (
        "each change to follow from the one before it, and all of them folded over the base to equal the state at rest, "
        "row by row, in every table"
    )
    record = read_record(evidence.folder)
    if record.status is not TrailStatus.DRAINED:
        return Measured(False, required, record.reason or f"the trail is {record.status.value}")
    if odd := _miscounted(evidence, record.changes):
        return Measured(False, required, odd)
    tables = {table.table: table.key for table in evidence.brief.tables.values()}
    described = {table.name: table.columns for table in record.tables}
    found = [
        difference
        for table, key in sorted(tables.items())
        for difference in (
            *differences(evidence.bare, evidence.folder, table, key, limit=SHOWN),
            *broken_links(evidence.bare, evidence.folder, table, key, described.get(table, ()), limit=SHOWN),
        )
    ]
    if not found:
        return Measured(
            True, required, f"{record.transactions} transactions fold to the state of {len(tables)} tables"
        )
    shown = "; ".join(
        f"{row.table} {'/'.join(str(part) for part in row.key)}: {row.how}" for row in found[:SHOWN]
    )
    return Measured(False, required, f"they differ: {shown}")


def _miscounted(evidence: Evidence, told: Mapping[str, int]) -> str | None:
    """Say which table has more changes, or fewer, than the trail gave, or some without their place in its order."""
    there = {
        table: (count, placed)
        for table, count, placed in evidence.rows(
            "SELECT target_table, count(*), count(commit_lsn + position) FROM changes GROUP BY target_table"
        )
    }
    for table in sorted({*there, *told}):
        count, placed = there.get(table, (0, 0))
        if count != told.get(table, 0):
            return f"{count:,} changes of {table} are there, and {told.get(table, 0):,} were recorded"
        if placed != count:
            return f"{count - placed:,} changes of {table} have no place in the order of commits"
    return None


def clocks_comparable(*, drift_ms_max: float = DRIFT_MS_MAX) -> Assumption:
    """Require that the wall clock of every process, the database's too, moved as CLOCK_MONOTONIC did, all the load long."""
    return Assumption(name="clocks_comparable", kind="evidence", parameters={"drift_ms_max": drift_ms_max})


@measures(clocks_comparable, "evidence")
def _clocks_comparable(evidence: Evidence, parameters: Parameters) -> Measured:
    limit = float(parameters.get("drift_ms_max", DRIFT_MS_MAX))
    required = (
        f"the clocks of all processes and the database within {limit:g} ms of one another, none stepped"
    )
    if lack := evidence.lacks("clocks"):
        return Measured(False, required, lack)
    database, pairs, process, drift_ms = evidence.row(_DRIFT)
    if database < 2:  # noqa: PLR2004 - one reading cannot show that nothing moved
        return Measured(False, required, f"the database's clock was read {database} times")
    (unwatched_ms,) = evidence.row(_UNWATCHED)
    if unwatched_ms > 0:
        return Measured(
            False,
            required,
            f"the load ran {unwatched_ms:.0f} ms outside the readings of the database's clock",
        )
    return Measured(
        drift_ms <= limit, required, f"at most {drift_ms:.3f} ms apart ({process}), {pairs} readings"
    )


# Each reading against the database's nearest before it, and the database's against its own last one. What the reading
# itself may be off by (its slack) is no drift.
_DRIFT: Final = """
WITH readings AS (
    SELECT process, mono_ns, real_ns - mono_ns AS ahead_ns, coalesce(slack_ns, 0) AS slack_ns FROM clocks
),
database AS (
    SELECT mono_ns, min(ahead_ns) AS ahead_ns, max(slack_ns) AS slack_ns FROM readings WHERE process = 'postgres' GROUP BY mono_ns
),
compared AS (
    SELECT r.process, abs(r.ahead_ns - coalesce(d.ahead_ns, f.ahead_ns)) - r.slack_ns - coalesce(d.slack_ns, f.slack_ns) AS off_ns
    FROM readings r
    ASOF LEFT JOIN database d ON r.mono_ns >= d.mono_ns
    CROSS JOIN (SELECT arg_min(ahead_ns, mono_ns) AS ahead_ns, arg_min(slack_ns, mono_ns) AS slack_ns FROM database) f
    WHERE r.process <> 'postgres'
    UNION ALL
    SELECT 'postgres', abs(ahead_ns - lag(ahead_ns) OVER by_time) - slack_ns - lag(slack_ns) OVER by_time
    FROM database WINDOW by_time AS (ORDER BY mono_ns)
)
SELECT (SELECT count(*) FROM database), (SELECT count(*) FROM clocks),
    coalesce(arg_max(process, (off_ns, process)), 'postgres'), greatest(coalesce(max(off_ns), 0), 0) / 1e6
FROM compared WHERE off_ns IS NOT NULL
"""

# How long the load ran before the first reading or after the last, of which time nothing is known.
_UNWATCHED: Final = """
SELECT coalesce(greatest(min(mono_ns) - min(since_ns), max(until_ns) - max(mono_ns)), 0) / 1e6
FROM clocks, (SELECT min(sent_ns) AS since_ns, max(done_ns) AS until_ns FROM operations) WHERE process = 'postgres'
"""


def history_complete() -> Assumption:
    """Require every load process's part of the history, without a gap and up to the last operation that it counted.

    Expects samples of source `load/<shard>`: `operations`, how many the process counted in all.
    """
    return Assumption(name="history_complete", kind="evidence")


@measures(history_complete, "evidence")
def _history_complete(evidence: Evidence, _parameters: Parameters) -> Measured:
    shards = evidence.brief.shards
    required = (
        f"the history of {shards} load process{'es' if shards > 1 else ''}, every operation in its place"
    )
    if lack := evidence.lacks("operations") or next(_gaps(evidence), None):
        return Measured(False, required, lack)
    total, parts = evidence.row(f"SELECT count(*), count(DISTINCT op >> {SHARD_SHIFT}) FROM operations")
    return Measured(True, required, f"{total} operations from {parts}")


def _gaps(evidence: Evidence) -> Iterator[str]:
    """Say what is missing of the history, or is there twice."""
    parts = evidence.rows(
        f"""
        SELECT o.part, o.operations, o.count, o.expected, c.counted FROM (
            SELECT op >> {SHARD_SHIFT} AS part, count(DISTINCT op) AS operations, count(*) AS count,
                max(op & {(1 << SHARD_SHIFT) - 1}) + 1 AS expected
            FROM operations GROUP BY part
        ) o LEFT JOIN (
            SELECT source, max(value) AS counted FROM samples WHERE metric = 'operations' GROUP BY source
        ) c ON c.source = 'load/' || o.part
        ORDER BY o.part
        """
    )
    if missing := sorted(set(range(evidence.brief.shards)) - {part for part, *_ in parts}):
        yield f"nothing from load process {', '.join(map(str, missing))}"
    for part, distinct, count, expected, counted in parts:
        if distinct != count:
            yield f"load process {part} has {count - distinct} operations twice"
        if count != expected:
            yield f"load process {part} lacks {expected - count} of {expected} operations"
        if counted is None:
            yield f"load process {part} never said how many operations there were"
        elif count < counted:
            yield f"load process {part} counted {counted:.0f} operations and left {count}"
