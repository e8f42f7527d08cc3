"""The target of evidence written by hand: its tables, seen as canonical ones, and one change of a row."""

from __future__ import annotations

from dataclasses import dataclass

from checker.brief import Brief, CanonicalTable
from tests.oracle.by_hand.instants import T0_NS

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


def by_hand() -> Brief:
    """Return the brief of a run in which nothing is assumed and every invariant is asked."""
    return Brief(
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
