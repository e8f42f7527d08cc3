"""The commits of the trail that touched one resource, put on the time line of the load by the clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from reports.evidence import NS_PER_MS, column, read_part

if TYPE_CHECKING:
    from checker.brief import CanonicalTable
    from reports.evidence import Evidence

TABLE = "holds"
COMMITS_MAX = 200
# Commits of a resource this far outside the race belong to another chapter: an expiry, a later buyer.
MARGIN_MS = 50.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One committed change of a hold: when (ms after t0, a lower bound), which row, what became of it."""

    at_ms: float
    row: str
    what: str


def of_subject(run: Evidence, subject: str, around_ms: tuple[float, float]) -> tuple[tuple[Commit, ...], str]:
    """Return the commits on `subject` around a window, and one sentence on how they were placed or why not."""
    table = None if run.brief is None else run.brief.tables.get(TABLE)
    if table is None or not subject:
        return (), "The target names no table of holds, so that commits are not shown."
    missing: list[str] = []
    changes = read_part(run.folder, f"changes/{table.table}.parquet", missing, "commits are not shown")
    clocks = read_part(run.folder, "clocks.parquet", missing, "commits cannot be put on the time line")
    if changes is None or clocks is None:
        return (), " ".join(missing)
    clock = _database_clock(clocks)
    if clock is None:
        return (), "clocks.parquet is empty: commits cannot be put on the time line."
    offset_ns, slack_ns, process = clock
    rows = _rows(changes, table, subject)
    if rows is None:
        return (), "The target's columns of holds could not be evaluated, so that commits are not shown."
    found = []
    for commit_us, row, state, action in rows:
        at_ms = (commit_us * 1000 - offset_ns - run.t0_ns) / NS_PER_MS
        if around_ms[0] - MARGIN_MS <= at_ms <= around_ms[1] + MARGIN_MS:
            found.append(Commit(at_ms=at_ms, row=row, what=_what(row, state, action)))
    note = (
        f"Commit instants are the database's own timestamps, mapped by the clock of {process} "
        f"(± {slack_ns / 1e3:,.0f} µs); each is a lower bound, taken before the commit was flushed and visible."
    )
    return tuple(found[:COMMITS_MAX]), note


def _database_clock(clocks: Any) -> tuple[int, int, str] | None:
    """Return (realtime − monotonic) in ns, its slack, and whose clock it is: PostgreSQL's where it was read."""
    rows = [row for row in clocks.to_pylist() if row.get("mono_ns") and row.get("real_ns")]
    database = [row for row in rows if "postgres" in str(row.get("process")).lower()]
    chosen = database or rows
    if not chosen:
        return None
    best = min(chosen, key=lambda row: row.get("slack_ns") or 0)
    offsets = np.sort(np.array([row["real_ns"] - row["mono_ns"] for row in chosen], dtype=np.int64))
    process = "PostgreSQL" if database else "the load"
    return int(offsets[len(offsets) // 2]), int(best.get("slack_ns") or 0), process


def _rows(changes: Any, table: CanonicalTable, subject: str) -> list[tuple[int, str, str | None, str]] | None:
    """Return (commit_us, id, state, action) of the subject's rows through the target's own column expressions."""
    resource, identity = table.columns.get("resource"), table.columns.get("id")
    if resource is None or identity is None or "commit_us" not in changes.column_names:
        return None
    state = table.columns.get("state", "NULL")
    # The expressions come from a run folder, which may be anybody's: they get no file and no network.
    with duckdb.connect(config={"enable_external_access": "false", "threads": "1"}) as connection:
        try:
            connection.register(
                "changes", changes.append_column("_action", column(changes, "action", "string"))
            )
            query = (
                f"SELECT commit_us, ({identity})::VARCHAR, ({state})::VARCHAR, _action FROM changes "  # noqa: S608
                f"WHERE ({table.where}) AND ({resource})::VARCHAR = ? AND commit_us IS NOT NULL "
                f"ORDER BY commit_lsn, position"
            )
            return [
                (int(at), str(row), state_now, str(action))
                for at, row, state_now, action in connection.execute(query, [subject]).fetchall()
            ]
        except duckdb.Error:
            return None


def _what(row: str, state: str | None, action: str) -> str:
    deed = {"I": "made", "U": "changed", "D": "deleted"}.get(action, action)
    return f"hold {row} {deed}{f': {state}' if state and action != 'D' else ''}"
