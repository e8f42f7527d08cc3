"""Writes what happened by hand into a run folder, in the shapes of checker.schemas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from checker import schemas
from checker.brief import write_brief
from checker.state import READ_KEY, SNAPSHOT_KEY
from checker.trail.record import TrailRecord, write_record
from tests.oracle.by_hand.instants import FIRST_XID, T0_NS, lsn_at, us_at
from tests.oracle.by_hand.target import COLUMNS, KEYS, Change, Row

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.run import Run


def write(run: Run) -> Path:
    """Write the whole folder."""
    run.folder.mkdir(exist_ok=True)
    write_brief(run.folder, msgspec.structs.replace(run.brief, tables=run.tables))
    there = Counter(
        change.table
        for commit in run.commits
        if commit["xid"] not in run.lost_commits and "changes" not in run.not_written
        for change in commit["changes"]
        if change.table in {mapping.table for mapping in run.tables.values()}
    )
    write_record(
        run.folder, TrailRecord(status=run.trail, transactions=len(run.commits), changes=dict(there))
    )
    samples = [*run.samples, *_last_words(run)]
    for name, schema in (
        ("operations", schemas.OPERATIONS),
        ("snapshots", schemas.SNAPSHOTS),
        ("clocks", schemas.CLOCKS),
        ("faults", schemas.FAULTS),
        ("samples", schemas.SAMPLES),
        ("effects", schemas.EFFECTS),
    ):
        if name not in run.not_written:
            content = samples if name == "samples" else getattr(run, name)
            pq.write_table(pa.Table.from_pylist(content, schema), run.folder / f"{name}.parquet")
    rows = dict(run.rows)
    for edit in run.state_edits:
        edit(rows)
    for table in sorted({mapping.table for mapping in run.tables.values()}):
        _write_table(run, table, rows)
    return run.folder


def _last_words(run: Run) -> list[dict[str, Any]]:
    """How many operations each load process counted."""
    left = Counter(operation["shard"] for operation in run.operations) | Counter(run.tallies)
    return [
        {"mono_ns": T0_NS, "source": f"load/{shard}", "metric": "operations", "value": float(count)}
        for shard, count in left.items()
    ]


def _write_table(run: Run, table: str, rows: dict[tuple[str, str], Row]) -> None:
    after = FIRST_XID + len(run.commits) + run.xid_offset
    own = pa.schema(
        [(f"new_{column}", pa.string()) for column in COLUMNS[table]],
        metadata={SNAPSHOT_KEY: f"{after}:{after}:".encode(), READ_KEY: str(us_at(run.rest_at)).encode()},
    )
    headed = pa.schema([*schemas.CHANGE_HEAD, *own])
    base = [_headed(change, 0, number) for number, change in enumerate(run.base) if change.table == table]
    changes = [
        _headed(change, commit["lsn"], position, xid=commit["xid"] + run.xid_offset, at=commit["at"])
        for commit in sorted(run.commits, key=lambda commit: commit["lsn"])
        if commit["xid"] not in run.lost_commits
        for position, change in enumerate(commit["changes"])
        if change.table == table
    ]
    state = [_prefixed(row) for (its_table, _), row in rows.items() if its_table == table]
    for part, content, schema in (
        ("base", base, headed),
        ("changes", changes, headed),
        ("state", state, own),
    ):
        if part in run.not_written:
            continue
        (run.folder / part).mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(content, schema), run.folder / part / f"{table}.parquet")


def _prefixed(row: Row) -> dict[str, str | None]:
    return {f"new_{column}": value for column, value in row.items()}


def _headed(
    change: Change, lsn: int, position: int, *, xid: int | None = None, at: float = 0
) -> dict[str, Any]:
    row = change.row
    if change.action in "DT":
        row = {KEYS[change.table]: row[KEYS[change.table]]} if change.action == "D" else {}
    return {
        "commit_lsn": lsn,
        "position": position,
        "change_lsn": max(lsn - 50 + position, 0)
        if change.opened is None
        else lsn_at(change.opened) + position,
        "xid": None if xid is None else xid % 2**32,
        "commit_us": None if xid is None else us_at(at),
        "action": change.action,
    } | _prefixed(row)
