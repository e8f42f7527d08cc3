"""What happened, told by hand in milliseconds after t0, and judged as a run would be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from checker import schemas
from checker.judge import check
from checker.trail.record import TrailStatus
from checker.verdict import Judgement
from tests.oracle.by_hand import writing
from tests.oracle.by_hand.instants import FIRST_XID, lsn_at, ns_at
from tests.oracle.by_hand.target import KEYS, OFFERS, RESERVATIONS, TABLES, Change, Row, by_hand
from tests.oracle.by_hand.watched import Watched

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.brief import Assumption, CanonicalTable
    from checker.verdict import Finding, Premise, Verdict


@dataclass
class Run(Watched):
    """Collects what happened, writes the folder, and lets the checker judge it."""

    folder: Path
    operations: list[dict[str, Any]] = field(default_factory=list)
    base: list[Change] = field(default_factory=list)
    commits: list[dict[str, Any]] = field(default_factory=list)
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    state_edits: list[Callable[[dict[tuple[str, str], Row]], object]] = field(default_factory=list)
    lost_commits: set[int] = field(default_factory=set)
    trail: TrailStatus = TrailStatus.DRAINED
    not_written: set[str] = field(default_factory=set)
    tables: dict[str, CanonicalTable] = field(default_factory=lambda: dict(TABLES))
    tallies: dict[int, int] = field(default_factory=dict)  # what load processes counted, where they left less
    rest_at: float = 2_000  # when the state was read, ms

    def __post_init__(self) -> None:
        self.brief = by_hand()
        for at in (-10, 1_000):
            for process in ("postgres", "load-0"):
                self.clock(process, at)

    def given(self, **changes: Any) -> Run:
        """Change the brief."""
        self.brief = msgspec.structs.replace(self.brief, **changes)
        return self

    def assume(self, *assumptions: Assumption) -> Run:
        return self.given(assumptions=assumptions)

    def resource(self, name: str, *, capacity: int, occupied: int = 0, state: str = "OPEN") -> Row:
        row: Row = {
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
        **columns: Any,
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
                "owner": self._sender(key) or f"buyer-{op}",
                "subject": subject,
                "quantity": quantity,
                "key": key,
                "intended_ns": ns_at(sent if intended is None else intended),
                "sent_ns": ns_at(sent),
                "done_ns": ns_at(done),
                "outcome": outcome,
                "code": code,
                "replayed": replayed,
                "created": created,
                "status": {"ok": 201, "fail": 409}.get(outcome),
                "error": "timeout" if outcome == "info" else None,
            }
            | columns
        )
        return op

    def _sender(self, key: str | None) -> str | None:
        """Whoever sent this key first: a key belongs to one buyer."""
        return next(
            (each["owner"] for each in self.operations if key is not None and each["key"] == key), None
        )

    def commit(self, at: float, *changes: Change, lsn: float | None = None) -> int:
        """Add a transaction that committed at this time; its place in the WAL is the time too, unless given."""
        place = lsn_at(at if lsn is None else lsn)
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

    def told_of(self, change: Change, **columns: str | None) -> Change:
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

    def counted(self, resource: str, occupied: int, **columns: str | None) -> Change:
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

    def write(self) -> Path:
        """Write the folder, and return it."""
        return writing.write(self)

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
