"""The whole control plane by hand: also the waitlist, offers, reservations, the outbox and the leader's lease."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from checker.invariants import group
from tests.oracle.by_hand.instants import T0_NS, ns_at, printed_at
from tests.oracle.by_hand.run import Run
from tests.oracle.by_hand.target import (
    KEYS,
    LEASES,
    OFFERS,
    OUTBOX,
    RESERVATIONS,
    WAITLIST,
    Change,
)

if TYPE_CHECKING:
    from checker.verdict import Finding, Judgement


@dataclass
class Plane(Run):
    """A run of a target that has everything; `violated` asks every invariant there is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tables |= {
            "offers": OFFERS,
            "reservations": RESERVATIONS,
            "waitlist_entries": WAITLIST,
            "outbox": OUTBOX,
            "leader_leases": LEASES,
        }
        self.given(invariants=group("reservation"))

    def put(self, table: str, name: str, **columns: str | int | None) -> Change:
        """A row of any table as it comes to be, or as it becomes: what is not said stays as it was."""
        before = self.rows.get((table, name))
        said = {column: None if value is None else str(value) for column, value in columns.items()}
        return Change(table, "I" if before is None else "U", (before or {KEYS[table]: name}) | said)

    def hold(
        self, name: str, resource: str = "r", *, until: float = 900, **columns: str | int | None
    ) -> Change:
        """A hold, ACTIVE unless said otherwise, that expires at `until`."""
        if ("holds", name) in self.rows:
            return self.put("holds", name, **columns)
        fresh: dict[str, Any] = {
            "tenant": "t",
            "resource_id": resource,
            "owner_digest": f"digest-{name}",
            "quantity": 1,
            "state": "ACTIVE",
            "expires_at": printed_at(until),
            "revision": 0,
        }
        return self.put("holds", name, **(fresh | columns))

    def reservation(self, name: str, resource: str = "r", **columns: str | int | None) -> Change:
        fresh: dict[str, Any] = {"resource_id": resource, "quantity": 1, "state": "CONFIRMED"}
        return self.put(
            "reservations", name, **(({} if ("reservations", name) in self.rows else fresh) | columns)
        )

    def entry(self, name: str, resource: str = "r", **columns: str | int | None) -> Change:
        """A place in the line, WAITING unless said otherwise."""
        fresh: dict[str, Any] = {
            "tenant": "t",
            "resource_id": resource,
            "owner_digest": f"digest-{name}",
            "idempotency_key": f"key-{name}",
            "state": "WAITING",
        }
        return self.put(
            "waitlist_entries", name, **(({} if ("waitlist_entries", name) in self.rows else fresh) | columns)
        )

    def offer(
        self, name: str, entry: str, resource: str = "r", *, until: float = 900, **columns: str | int | None
    ) -> Change:
        """An offer to a waitlist entry, ACTIVE unless said otherwise."""
        fresh: dict[str, Any] = {
            "resource_id": resource,
            "entry_id": entry,
            "owner_digest": f"digest-{entry}",
            "state": "ACTIVE",
            "expires_at": printed_at(until),
        }
        return self.put("offers", name, **(({} if ("offers", name) in self.rows else fresh) | columns))

    def notice(self, entry: str, *, delivery: str | None = None, **columns: str | int | None) -> Change:
        """The announcement of the offer to an entry, PENDING unless said otherwise."""
        name = delivery or f"waitlist-{entry}-offered"
        fresh: dict[str, Any] = {
            "entry_id": entry,
            "state": "PENDING",
            "attempts": 0,
            "next_at": printed_at(0),
        }
        return self.put("outbox", name, **(({} if ("outbox", name) in self.rows else fresh) | columns))

    def lease(self, holder: str, term: int, *, until: float, slot: str = "sweeper") -> Change:
        return self.put("leases", slot, holder=holder, term=term, expires_at=printed_at(until))

    def promoted(self, entry: str, offer: str, resource: str = "r", **about: Any) -> tuple[Change, ...]:
        """What stands in the commit in which a waiter is offered a seat."""
        return (
            self.entry(entry, resource, state="OFFERED"),
            self.offer(offer, entry, resource, **about),
            self.notice(entry),
        )

    def joins(
        self, entry: str, resource: str = "r", *, sent: float, commit: float, done: float, seq: int
    ) -> int:
        """One place in the line that was asked for, committed with its record and acknowledged."""
        key = f"key-{entry}"
        self.commit(commit, *self.recorded(key, kind="join_waitlist"), self.entry(entry, resource, seq=seq))
        return self.operation("join_waitlist", resource, sent=sent, done=done, key=key, created=entry)

    def ends(
        self, kind: str, subject: str, *changes: Change, sent: float, commit: float, done: float, **about: Any
    ) -> int:
        """One command that ends something: its changes with its record in one commit, acknowledged."""
        key = about.pop("key", f"{kind}-{subject}")
        about.setdefault("owner", self.owner_of(subject))
        self.commit(commit, *self.recorded(key, kind=kind), *changes)
        return self.operation(kind, subject, sent=sent, done=done, key=key, **about)

    def passes_on(self, hold: str, entry: str, offer: str, *, sent: float, commit: float, done: float) -> int:
        """A hold that is cancelled, and its seat offered to a waiter in the same commit."""
        changes = (self.hold(hold, state="CANCELLED"), *self.promoted(entry, offer))
        return self.ends("cancel", hold, *changes, sent=sent, commit=commit, done=done)

    def owner_of(self, name: str) -> str | None:
        """Who was told of a row, or of the one that it came from."""
        for row in (self.rows.get((table, name), {}) for table in ("offers", "reservations")):
            origin = row.get("entry_id") or row.get("hold_id") or row.get("offer_id")
            if origin is not None:
                return self.owner_of(origin)
        return next((each["owner"] for each in self.operations if each["created"] == name), None)

    def told_sold_out(
        self, resource: str, *, sent: float, commit: float, done: float, key: str, **about: Any
    ) -> int:
        """A refusal that stands under its key."""
        record, answer = self.recorded(key)
        self.commit(commit, record, self.told_of(answer, status="409"))
        return self.refused(resource, sent=sent, done=done, key=key, **about)

    def told_expired(
        self, kind: str, subject: str, *, sent: float, commit: float, done: float, **about: Any
    ) -> int:
        """A refusal for want of time that stands under its key."""
        key = about.pop("key", f"too late for {subject}")
        record, answer = self.recorded(key, kind=kind)
        self.commit(commit, record, self.told_of(answer, status="409"))
        about = {"outcome": "fail", "code": "HOLD_EXPIRED", "owner": self.owner_of(subject)} | about
        return self.operation(kind, subject, sent=sent, done=done, key=key, **about)

    def effect(self, delivery: str, *, at: float, answer: str = "accepted") -> None:
        received_ns = ns_at(at) or T0_NS
        self.effects.append(
            {
                "provider": "notification",
                "effect": delivery,
                "received_ns": received_ns,
                "answer": answer,
                "payload": "",
            }
        )

    def broken(
        self, *, since: float, until: float | None, where: str = "pg-a", kind: str = "cut", name: str = "cut"
    ) -> None:
        """A fault between two instants."""
        self.fault(name, landed=since, healed=until)
        self.faults[-1] |= {"injected_ns": ns_at(since), "where": where, "kind": kind}

    def finding(self, name: str) -> Finding:
        self.brief = msgspec.structs.replace(self.brief, invariants=(name,))
        (finding,) = self.verdict().findings
        return finding

    def judged(self, name: str) -> Judgement:
        return self.finding(name).judgement
