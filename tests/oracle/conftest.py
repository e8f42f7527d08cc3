"""Tiny evidences written by hand, in milliseconds after t0: a run folder without a lab."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker import schemas
from checker.brief import Assumption, Brief, CanonicalTable, write_brief
from checker.judge import check
from checker.state import SNAPSHOT_KEY
from checker.trail.record import TrailRecord, TrailStatus, write_record
from checker.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Finding, Premise, Verdict

MS = 1_000_000
T0_NS = 5_000 * MS
REAL_AHEAD_NS = 1_700_000_000_000 * MS
FIRST_XID = 700
Row = dict[str, str | None]

RESERVATION = (
    "never_oversold",
    "occupancy_matches_claims",
    "acknowledged_is_persisted",
    "nothing_unattempted_exists",
    "one_effect_per_key",
    "sold_out_is_true",
)
COLUMNS = {
    "resources": ("id", "tenant", "capacity", "occupied_count", "revision", "state"),
    "holds": ("id", "tenant", "resource_id", "owner_digest", "idempotency_key", "quantity", "state"),
    "idempotency_records": ("id", "tenant", "operation", "key", "fingerprint"),
    "idempotency_answers": ("record_id", "status"),
    "offers": ("id", "resource_id", "state"),
    "reservations": ("id", "resource_id", "quantity", "state"),
}
KEYS = {name: columns[0] for name, columns in COLUMNS.items()}
TABLES = {
    "resources": CanonicalTable(
        table="resources",
        key=("id",),
        columns={
            "id": "id",
            "tenant": "tenant",
            "capacity": "capacity",
            "occupied": "occupied_count",
            "revision": "revision",
            "state": "state",
        },
    ),
    "holds": CanonicalTable(
        table="holds",
        key=("id",),
        columns={
            "id": "id",
            "tenant": "tenant",
            "resource": "resource_id",
            "owner": "owner_digest",
            "quantity": "quantity",
            "state": "state",
            "key": "idempotency_key",
        },
    ),
    "idempotency_records": CanonicalTable(
        table="idempotency_records",
        key=("id",),
        columns={
            "id": "id",
            "tenant": "tenant",
            "operation": "operation",
            "key": "key",
            "fingerprint": "fingerprint",
        },
    ),
    "idempotency_answers": CanonicalTable(
        table="idempotency_answers", key=("record_id",), columns={"record": "record_id", "status": "status"}
    ),
}
OFFERS = CanonicalTable(
    table="offers", key=("id",), columns={"id": "id", "resource": "resource_id", "state": "state"}
)
RESERVATIONS = CanonicalTable(
    table="reservations",
    key=("id",),
    columns={"id": "id", "resource": "resource_id", "quantity": "quantity", "state": "state"},
)


@dataclass(slots=True)
class Change:
    """One row change; `opened` is its own place in the WAL, in the same unit as `Run.commit`'s."""

    table: str
    action: str
    row: Row
    opened: float | None = None


@dataclass
class Run:
    """Collects what happened, writes the folder, and lets the checker judge it."""

    folder: Path
    operations: list[dict[str, Any]] = field(default_factory=list)
    base: list[Change] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    clocks: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    state_edits: list[Callable[[dict[tuple[str, str], Row]], object]] = field(default_factory=list)
    lost_commits: set[int] = field(default_factory=set)
    trail: TrailStatus = TrailStatus.DRAINED
    not_written: set[str] = field(default_factory=set)
    tables: dict[str, CanonicalTable] = field(default_factory=lambda: dict(TABLES))
    xid_offset: int = 0

    def __post_init__(self) -> None:
        self.brief = Brief(
            run="run-1",
            scenario="by_hand",
            story="Written by hand.",
            profile="smoke",
            seed=1,
            target="builtin",
            command="lastseat run by_hand",
            invariants=RESERVATION,
            assumptions=(),
            t0_ns=T0_NS,
            refusals={"sold_out": ("CAPACITY_EXHAUSTED",)},
        )
        for at in (-10, 1_000):
            for process in ("postgres", "load-0"):
                self.clock(process, at)

    def given(self, **changes: Any) -> Run:
        """Change the brief."""
        self.brief = msgspec.structs.replace(self.brief, **changes)
        return self

    def assume(self, *assumptions: Assumption) -> Run:
        return self.given(assumptions=assumptions)

    def clock(self, process: str, at: float, *, stepped_ms: float = 0, slack_ms: float = 0.01) -> None:
        mono = T0_NS + round(at * MS)
        self.clocks.append(
            {
                "process": process,
                "mono_ns": mono,
                "real_ns": mono + REAL_AHEAD_NS + round(stepped_ms * MS),
                "slack_ns": round(slack_ms * MS),
            }
        )

    def fault(
        self, name: str, *, landed: float | None, healed: float | None = 20, error: str | None = None
    ) -> None:
        self.faults.append(
            {
                "fault": name,
                "kind": "cut",
                "where": "redis-a",
                "planned_ns": T0_NS,
                "injected_ns": T0_NS,
                "landed_ns": None if landed is None else T0_NS + round(landed * MS),
                "healed_ns": None if healed is None else T0_NS + round(healed * MS),
                "proof": "ECONNREFUSED" if landed is not None else None,
                "error": error,
            }
        )

    def sample(self, source: str, metric: str, value: float, at: float = 0) -> None:
        self.samples.append(
            {"mono_ns": T0_NS + round(at * MS), "source": source, "metric": metric, "value": value}
        )

    def resource(self, name: str, *, capacity: int, occupied: int = 0, state: str = "OPEN") -> Row:
        row = {
            "id": name,
            "tenant": "t",
            "capacity": str(capacity),
            "occupied_count": str(occupied),
            "revision": "0",
            "state": state,
        }
        self.base.append(Change("resources", "B", row))
        self.rows["resources", name] = row
        return row

    def operation(
        self,
        kind: str,
        subject: str,
        *,
        sent: float | None,
        done: float | None,
        outcome: str = "ok",
        key: str | None = None,
        quantity: int = 1,
        code: str | None = None,
        created: str | None = None,
        race: int | None = None,
        attempt: int = 1,
        replayed: bool | None = False,
        intended: float | None = None,
        shard: int = 0,
        tenant: str = "t",
    ) -> int:
        sequence = sum(1 for operation in self.operations if operation["shard"] == shard)
        op = shard << 40 | sequence
        self.operations.append(
            dict.fromkeys(schemas.OPERATIONS.names)
            | {
                "op": op,
                "shard": shard,
                "arrival": op,
                "race": race,
                "attempt": attempt,
                "kind": kind,
                "node": "a",
                "tenant": tenant,
                "owner": f"buyer-{op}",
                "subject": subject,
                "quantity": quantity,
                "key": key,
                "intended_ns": _at(sent if intended is None else intended),
                "sent_ns": _at(sent),
                "done_ns": _at(done),
                "outcome": outcome,
                "code": code,
                "replayed": replayed,
                "created": created,
                "status": {"ok": 201, "fail": 409}.get(outcome),
                "error": "timeout" if outcome == "info" else None,
            }
        )
        return op

    def commit(self, at: float, *changes: Change, lsn: float | None = None) -> int:
        """Add a transaction that committed at this time; its place in the WAL is the time too, unless given."""
        place = _lsn(at if lsn is None else lsn)
        xid = FIRST_XID + len(self.commits)
        self.commits.append({"lsn": place, "xid": xid, "at": at, "changes": changes})
        for change in changes:
            name = change.row[KEYS[change.table]] or ""
            if change.action == "D":
                self.rows.pop((change.table, name), None)
            elif change.action == "T":
                self.rows = {known: row for known, row in self.rows.items() if known[0] != change.table}
            else:
                self.rows[change.table, name] = change.row
        return xid

    def held(
        self, name: str, resource: str, *, key: str | None = None, quantity: int = 1, state: str = "ACTIVE"
    ) -> Change:
        """The hold as it comes to be, or as it becomes."""
        action = "U" if ("holds", name) in self.rows else "I"
        before = self.rows.get(("holds", name), {})
        row: Row = {
            "id": name,
            "tenant": "t",
            "resource_id": resource,
            "owner_digest": "digest",
            "idempotency_key": key or before.get("idempotency_key"),
            "quantity": str(quantity),
            "state": state,
        }
        return Change("holds", action, row)

    def reserved(self, name: str, resource: str, *, state: str = "CONFIRMED") -> Change:
        row: Row = {"id": name, "resource_id": resource, "quantity": "1", "state": state}
        return Change("reservations", "I", row)

    def offered(self, name: str, resource: str) -> Change:
        return Change("offers", "I", {"id": name, "resource_id": resource, "state": "ACTIVE"})

    def told_of(self, change: Change, **columns: str) -> Change:
        """The same change with other values."""
        return Change(change.table, change.action, change.row | columns, change.opened)

    def stood(self, change: Change) -> None:
        """Let a row have stood there before the trail began."""
        self.base.append(Change(change.table, "B", change.row))
        self.rows[change.table, change.row[KEYS[change.table]] or ""] = change.row

    def removed(self, hold: str, action: str = "D") -> Change:
        return Change("holds", action, {"id": hold})

    def offers_reservations(self) -> None:
        self.tables["reservations"] = RESERVATIONS

    def offers_offers(self) -> None:
        self.tables["offers"] = OFFERS

    def unmap(self, table: str, column: str) -> None:
        """Take a column out of what the target offers."""
        mapping = self.tables[table]
        columns = {name: sql for name, sql in mapping.columns.items() if name != column}
        self.tables[table] = msgspec.structs.replace(mapping, columns=columns)

    def counted(self, resource: str, occupied: int, **columns: str) -> Change:
        """The resource's row with another count."""
        return Change(
            "resources", "U", self.rows["resources", resource] | {"occupied_count": str(occupied)} | columns
        )

    def recorded(self, key: str, *, kind: str = "hold", opened: float | None = None) -> tuple[Change, Change]:
        """The idempotency record of a key, and its answer."""
        record: Row = {
            "id": f"record-{key}",
            "tenant": "t",
            "operation": kind,
            "key": key,
            "fingerprint": "f",
        }
        answer: Row = {"record_id": f"record-{key}", "status": "201"}
        return Change("idempotency_records", "I", record, opened), Change("idempotency_answers", "I", answer)

    def sold(
        self, name: str, resource: str, *, sent: float, commit: float, done: float, count: int, **about: Any
    ) -> int:
        """One hold that went as it should: asked for, committed with its record, acknowledged."""
        key = about.pop("key", f"key-{name}")
        quantity = about.pop("quantity", 1)
        self.commit(
            commit,
            *self.recorded(key, opened=about.pop("opened", None)),
            self.held(name, resource, key=key, quantity=quantity),
            self.counted(resource, count),
        )
        return self.operation(
            "hold", resource, sent=sent, done=done, key=key, quantity=quantity, created=name, **about
        )

    def refused(self, resource: str, *, sent: float, done: float, key: str, **about: Any) -> int:
        about = {"code": "CAPACITY_EXHAUSTED", "outcome": "fail"} | about
        return self.operation("hold", resource, sent=sent, done=done, key=key, **about)

    def snapshot(self, at: float, *, sees: list[int], running: list[int] = []) -> None:  # noqa: B006 - never changed
        """A snapshot at this time that sees some transactions and finds others running; later ones have not begun."""
        known = [*sees, *running]
        instant = T0_NS + round(at * MS)
        xmax = max(known, default=FIRST_XID - 1) + 1
        self.snapshots.append(
            {
                "asked_ns": instant,
                "answered_ns": instant + MS // 10,
                "xmin": min(running, default=xmax) + self.xid_offset,
                "xmax": xmax + self.xid_offset,
                "xip": [xid + self.xid_offset for xid in running],
            }
        )

    def write(self) -> Path:
        self.folder.mkdir(exist_ok=True)
        write_brief(self.folder, msgspec.structs.replace(self.brief, tables=self.tables))
        write_record(self.folder, TrailRecord(status=self.trail, transactions=len(self.commits)))
        for name, schema in (
            ("operations", schemas.OPERATIONS),
            ("snapshots", schemas.SNAPSHOTS),
            ("clocks", schemas.CLOCKS),
            ("faults", schemas.FAULTS),
            ("samples", schemas.SAMPLES),
        ):
            if name not in self.not_written:
                pq.write_table(
                    pa.Table.from_pylist(getattr(self, name), schema), self.folder / f"{name}.parquet"
                )
        rows = dict(self.rows)
        for edit in self.state_edits:
            edit(rows)
        for table in sorted({mapping.table for mapping in self.tables.values()}):
            self._write_table(table, rows)
        return self.folder

    def _write_table(self, table: str, rows: dict[tuple[str, str], Row]) -> None:
        after = FIRST_XID + len(self.commits) + self.xid_offset
        own = pa.schema(
            [(f"new_{column}", pa.string()) for column in COLUMNS[table]],
            metadata={SNAPSHOT_KEY: f"{after}:{after}:".encode()},
        )
        headed = pa.schema([*schemas.CHANGE_HEAD, *own])
        base = [
            _headed(change, 0, number) for number, change in enumerate(self.base) if change.table == table
        ]
        changes = [
            _headed(change, commit["lsn"], position, xid=commit["xid"] + self.xid_offset, at=commit["at"])
            for commit in sorted(self.commits, key=lambda commit: commit["lsn"])
            if commit["xid"] not in self.lost_commits
            for position, change in enumerate(commit["changes"])
            if change.table == table
        ]
        state = [_prefixed(row) for (its_table, _), row in rows.items() if its_table == table]
        for part, content, schema in (
            ("base", base, headed),
            ("changes", changes, headed),
            ("state", state, own),
        ):
            if part in self.not_written:
                continue
            (self.folder / part).mkdir(exist_ok=True)
            pq.write_table(pa.Table.from_pylist(content, schema), self.folder / part / f"{table}.parquet")

    def verdict(self) -> Verdict:
        return check(self.write())

    def finding(self, name: str) -> Finding:
        self.given(invariants=(name,))
        (finding,) = self.verdict().findings
        return finding

    def violated(self) -> set[str]:
        """The invariants, of all there are, that this evidence violates."""
        return {
            finding.invariant for finding in self.verdict().findings if finding.judgement is Judgement.INVALID
        }

    def premise(self, assumption: Assumption) -> Premise:
        self.assume(assumption)
        (premise,) = (each for each in self.verdict().premises if each.name == assumption.name)
        return premise


def _at(ms: float | None) -> int | None:
    return None if ms is None else T0_NS + round(ms * MS)


def _lsn(place: float) -> int:
    return 1_000_000 + round(place * 1_000)


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
        else _lsn(change.opened) + position,
        "xid": None if xid is None else xid % 2**32,
        "commit_us": None if xid is None else (T0_NS + round(at * MS) + REAL_AHEAD_NS) // 1_000,
        "action": change.action,
    } | _prefixed(row)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")
