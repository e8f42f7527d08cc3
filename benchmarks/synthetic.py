"""A long legal history of a flash sale, made by the column: evidence as a run leaves it, as large as is wanted.

Half of all operations are on one resource, the rest on a thousand. Each resource goes through the same cycle again and
again: three seats are held, eight buyers are refused (one of them again under her key), one hold is cancelled, two
expire. Every cycle is twelve operations and six commits of two row changes each: as many changes as operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow.parquet as pq

from checker import schemas
from checker.brief import Brief, CanonicalTable, write_brief
from checker.invariants import load
from checker.quoting import literal
from checker.tables import Table
from checker.trail.record import TrailRecord, TrailStatus, write_record

if TYPE_CHECKING:
    from pathlib import Path

SPREAD: Final = 1_000
CYCLE_OPERATIONS: Final = 12
T0_NS: Final = 1_000_000_000_000
AHEAD_NS: Final = 1_900_000_000_000_000_000

RESOURCES: Final = ("id", "tenant", "capacity", "occupied", "revision", "state", "owner_limit")
HOLDS: Final = (
    *("id", "tenant", "resource", "owner", "quantity", "state", "key", "revision"),
    *("created_at", "expires_at", "ended_at"),
)
TABLES: Final = {
    "resources": CanonicalTable(
        table="resources", key=("id",), columns={**{name: name for name in RESOURCES}, "locked_first": "true"}
    ),
    "holds": CanonicalTable(
        table="holds",
        key=("id",),
        columns={
            **{name: name for name in HOLDS[:8]},
            "created_us": "instant_us(created_at)",
            "expires_us": "instant_us(expires_at)",
            "ended_us": "instant_us(ended_at)",
        },
    ),
}

# A slot is a millisecond for the hot resource, and as many as fill the same time for the others; no two resources
# commit in the same nanosecond. Slots: 0 to 2 hold, 3 to 10 refuse, 11 cancels, 12 and 13 expire.
_CYCLES: Final = """
CREATE TABLE cycles AS
SELECT 0 AS resource, c AS cycle, c * 14 AS slot, 1 AS stretch, c AS number FROM range({hot}) t(c)
UNION ALL
SELECT 1 + i // {cold}, i % {cold}, (i % {cold}) * 14, {stretch}, {hot} + i FROM range({cold} * {spread}) t(i)
"""
_COMMITS: Final = """
CREATE TABLE commits AS
SELECT *, row_number() OVER (ORDER BY at_ns) AS xid FROM (
    SELECT resource, cycle, number, s.place, s.occupied, number * 3 + s.seat AS hold, s.state,
        {t0} + (slot + s.late) * stretch * 1000000 + resource * 7 AS at_ns,
        {t0} + (slot + s.made) * stretch * 1000000 + resource * 7 AS made_ns,
        {t0} + (slot + s.ends) * stretch * 1000000 - 400000 + resource * 7 AS expires_ns
    FROM cycles, (VALUES
        (0, 0, 1, 0, 'ACTIVE', 0, 12), (1, 1, 2, 1, 'ACTIVE', 1, 13), (2, 2, 3, 2, 'ACTIVE', 2, 13),
        (3, 11, 2, 2, 'CANCELLED', 2, 13), (4, 12, 1, 0, 'EXPIRED', 0, 12), (5, 13, 0, 1, 'EXPIRED', 1, 13)
    ) s(place, late, occupied, seat, state, made, ends)
)
"""
# A cast of TIMESTAMPTZ goes through ICU, at many times the cost.
_PRINTED: Final = "CAST(make_timestamp(({ns} + {ahead}) // 1000) AS VARCHAR) || '+00'"
HEAD: Final = """
CAST(at_ns AS UBIGINT) AS commit_lsn, CAST({position} AS BIGINT) AS position, CAST(at_ns - 500 + {position} AS UBIGINT) AS change_lsn,
CAST(xid AS UINTEGER) AS xid, (at_ns + {ahead}) // 1000 AS commit_us, {action} AS action
"""
_RESOURCE: Final = """
CAST(resource AS VARCHAR) AS new_id, 't' AS new_tenant, '3' AS new_capacity, CAST({occupied} AS VARCHAR) AS new_occupied,
CAST({revision} AS VARCHAR) AS new_revision, 'OPEN' AS new_state, '3' AS new_owner_limit
"""
_HOLD: Final = """
CAST(hold AS VARCHAR) AS new_id, 't' AS new_tenant, CAST(resource AS VARCHAR) AS new_resource, 'buyer-' || hold % 100000 AS new_owner,
'1' AS new_quantity, state AS new_state, 'key-' || number * 12 + hold % 3 AS new_key,
CASE WHEN state = 'ACTIVE' THEN '1' ELSE '2' END AS new_revision, {created} AS new_created_at, {expires} AS new_expires_at,
CASE WHEN state <> 'ACTIVE' THEN {ended} END AS new_ended_at
"""
_OPERATIONS: Final = """
SELECT number * 12 + j AS op, 0::INTEGER AS shard, number * 12 + j AS arrival, NULL::BIGINT AS race,
    CASE WHEN j = 10 THEN 2 ELSE 1 END::INTEGER AS attempt, CASE WHEN j = 11 THEN 'cancel' ELSE 'hold' END AS kind, 'a' AS node, 't' AS tenant,
    'buyer-' || CASE WHEN j < 3 THEN (number * 3 + j) % 100000 WHEN j = 11 THEN (number * 3 + 2) % 100000
        ELSE 100000 + (number * 12 + least(j, 9)) % 100000 END AS owner,
    CAST(CASE WHEN j = 11 THEN number * 3 + 2 ELSE resource END AS VARCHAR) AS subject, 1::BIGINT AS quantity,
    'key-' || number * 12 + CASE WHEN j = 10 THEN 9 ELSE j END AS key, 'd' || number * 12 + CASE WHEN j = 10 THEN 9 ELSE j END AS request_digest,
    at_ns - 300000 AS intended_ns, at_ns - 300000 AS sent_ns, at_ns + 300000 AS done_ns,
    CASE WHEN j < 3 OR j = 11 THEN 'ok' ELSE 'fail' END AS outcome, CASE WHEN j < 3 THEN 201 WHEN j = 11 THEN 200 ELSE 409 END::INTEGER AS status,
    CASE WHEN j BETWEEN 3 AND 10 THEN 'SOLD_OUT' END AS code, j = 10 AS replayed,
    CASE WHEN j < 3 THEN CAST(number * 3 + j AS VARCHAR) END AS created,
    CASE WHEN j BETWEEN 3 AND 10 THEN 'sold out' ELSE 'b' || number * 12 + j END AS body_digest, NULL::VARCHAR AS error
FROM (
    SELECT number, resource, j, {t0} + (slot + j) * stretch * 1000000 + resource * 7 AS at_ns FROM cycles, range(12) t(j)
)
"""


def make(folder: Path, operations: int, *, memory: str = "2GB") -> int:
    """Write the evidence of about so many operations into a folder; return how many there are."""
    hot = max(1, operations // (2 * CYCLE_OPERATIONS))
    spread = min(SPREAD, hot)
    cold = max(1, hot // spread)
    for part in ("base", "changes", "state"):
        (folder / part).mkdir(parents=True)
    with duckdb.connect(":memory:") as db:
        db.execute(f"SET memory_limit = '{memory}'; SET temp_directory = {literal(folder / 'spill')}")
        db.execute("SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
        _tables(db, hot=hot, cold=cold, spread=spread)
        _write(db, folder)
        (count,) = db.execute("SELECT count(*) * 12 FROM cycles").fetchone() or (0,)
        watched(db, folder, int(count))
        (commits,) = db.execute("SELECT count(*) FROM commits").fetchone() or (0,)
    described(folder, int(count), int(commits))
    return int(count)


def _tables(db: duckdb.DuckDBPyConnection, *, hot: int, cold: int, spread: int) -> None:
    db.execute(_CYCLES.format(hot=hot, cold=cold, spread=spread, stretch=max(1, hot // cold)))
    db.execute(_COMMITS.format(t0=T0_NS))


def _write(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Write history, trail, base and state."""

    def copy(query: str, place: str, options: str = "") -> None:
        db.execute(f"COPY ({query}) TO {literal(folder / place)} (FORMAT parquet{options})")

    hold = _HOLD.format(
        created=_PRINTED.format(ns="made_ns", ahead=AHEAD_NS),
        expires=_PRINTED.format(ns="expires_ns", ahead=AHEAD_NS),
        ended=_PRINTED.format(ns="at_ns", ahead=AHEAD_NS),
    )
    resource = _RESOURCE.format(occupied="occupied", revision="1 + cycle * 6 + place + 1")
    copy(f"{_OPERATIONS.format(t0=T0_NS)} ORDER BY sent_ns", "operations.parquet")
    for table, columns, position, action in (
        ("resources", resource, 0, "'U'"),
        ("holds", hold, 1, "CASE WHEN state = 'ACTIVE' THEN 'I' ELSE 'U' END"),
    ):
        head = HEAD.format(position=position, action=action, ahead=AHEAD_NS)
        copy(f"SELECT {head}, {columns} FROM commits ORDER BY at_ns", f"changes/{table}.parquet")
    stood = _RESOURCE.format(occupied="0", revision="1")
    copy(
        f"SELECT 0::UBIGINT AS commit_lsn, 0::BIGINT AS position, 0::UBIGINT AS change_lsn, NULL::UINTEGER AS xid, "
        f"NULL::BIGINT AS commit_us, 'B' AS action, {stood} FROM (SELECT DISTINCT resource FROM cycles)",
        "base/resources.parquet",
    )
    rest = "SELECT * EXCLUDE (occupied), 0 AS occupied FROM commits WHERE place = 5 QUALIFY cycle = max(cycle) OVER (PARTITION BY resource)"
    (last_ns, last_xid) = db.execute("SELECT max(at_ns), max(xid) FROM commits").fetchone() or (0, 0)
    read = f", KV_METADATA {{snapshot: '{last_xid + 1}:{last_xid + 1}:', read_us: '{(last_ns + AHEAD_NS) // 1000 + 1000}'}}"
    copy(f"SELECT {resource} FROM ({rest})", "state/resources.parquet", read)
    copy(f"SELECT {hold} FROM commits WHERE state <> 'ACTIVE'", "state/holds.parquet", read)
    (folder / "base" / "holds.parquet").unlink(missing_ok=True)
    copy(
        f"SELECT 0::UBIGINT AS commit_lsn, 0::BIGINT AS position, 0::UBIGINT AS change_lsn, NULL::UINTEGER AS xid, "
        f"NULL::BIGINT AS commit_us, 'B' AS action, {hold} FROM commits LIMIT 0",
        "base/holds.parquet",
    )


def watched(db: duckdb.DuckDBPyConnection, folder: Path, operations: int) -> None:
    """Write what watched the run: clocks each second, snapshots each 20 ms, and what the load process counted."""
    end = "(SELECT max(at_ns) FROM commits)"
    queries = {
        "clocks": f"""
            SELECT process, mono_ns, mono_ns + {AHEAD_NS} AS real_ns, 1000::BIGINT AS slack_ns
            FROM range({T0_NS} - 2000000000, {end} + 2000000000, 1000000000) t(mono_ns), (VALUES ('postgres'), ('load/0')) p(process)""",
        "snapshots": f"""
            SELECT asked_ns, asked_ns + 100000 AS answered_ns, (coalesce(seen, 0) + 1)::UBIGINT AS xmin,
                (coalesce(seen, 0) + 1)::UBIGINT AS xmax, []::UBIGINT[] AS xip
            FROM (SELECT *, max(xid) OVER (ORDER BY asked_ns, NOT asks) AS seen FROM (
                SELECT at_ns AS asked_ns, xid, false AS asks FROM commits
                UNION ALL SELECT a, NULL, true FROM range({T0_NS} - 20000000, {end} + 40000000, 20000000) t(a)
            )) WHERE asks""",
        "samples": f"""
            SELECT {end} AS mono_ns, source, metric, value::DOUBLE AS value FROM (VALUES
                ('load/0', 'operations', {operations}), ('load/0', 'arrivals', {operations}), ('load/0', 'dropped', 0),
                ('unsettled', 'open transactions', 0), ('database', 'idle_in_transaction_seconds', 0), ('database', 'transaction_seconds', 0), ('database', 'advisory_locks', 0)
            ) v(source, metric, value)""",
    }
    for name, query in queries.items():
        db.execute(f"COPY ({query}) TO {literal(folder / f'{name}.parquet')} (FORMAT parquet)")
    for name, schema in (("faults", schemas.FAULTS), ("effects", schemas.EFFECTS)):
        pq.write_table(schema.empty_table(), folder / f"{name}.parquet")


def described(folder: Path, operations: int, commits: int) -> None:
    """Write what is told of the evidence: trail.json and scenario.json."""
    tables = tuple(
        Table(name=name, schema="public", relation=name, columns=columns, key=("id",))
        for name, columns in (("resources", RESOURCES), ("holds", HOLDS))
    )
    record = TrailRecord(
        status=TrailStatus.DRAINED,
        tables=tables,
        base_snapshot="1:1:",
        transactions=commits,
        changes={"resources": commits, "holds": commits},
    )
    write_record(folder, record)
    brief = Brief(
        run=f"synthetic-{operations}", scenario="synthetic", story="Made by the column.", profile="full", seed=1,
        target="synthetic", command="python benchmarks/checker.py", invariants=tuple(load()), assumptions=(),
        tables=TABLES, refusals={"sold_out": ("SOLD_OUT",), "final": ("SOLD_OUT",)}, t0_ns=T0_NS,
    )  # fmt: skip
    write_brief(folder, brief)
