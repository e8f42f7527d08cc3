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

LIVED = ("state", "revision", "created_at", "ended_at")
COLUMNS = {
    "resources": (
        "id",
        "tenant",
        "capacity",
        "occupied_count",
        "revision",
        "state",
        "policy_version",
        "per_owner_limit",
    ),
    "holds": (
        "id",
        "tenant",
        "resource_id",
        "owner_digest",
        "idempotency_key",
        "quantity",
        "expires_at",
        "term",
        *LIVED,
    ),
    "idempotency_records": ("id", "tenant", "operation", "key", "fingerprint", "lease"),
    "idempotency_answers": ("record_id", "status"),
    "offers": ("id", "resource_id", "entry_id", "owner_digest", "expires_at", "term", *LIVED),
    "reservations": ("id", "resource_id", "hold_id", "offer_id", "owner_digest", "quantity", *LIVED),
    "waitlist_entries": (
        "id",
        "tenant",
        "resource_id",
        "seq",
        "owner_digest",
        "idempotency_key",
        "reason",
        *LIVED,
    ),
    "outbox": ("delivery_id", "entry_id", "state", "attempts", "claim", "claimed_until", "next_at"),
    "leases": ("slot", "holder", "term", "expires_at"),
}
KEYS = {name: columns[0] for name, columns in COLUMNS.items()}


def _seen(table: str, **columns: str) -> CanonicalTable:
    return CanonicalTable(table=table, key=(KEYS[table],), columns=columns)


_OWNED = {"resource": "resource_id", "owner": "owner_digest", "state": "state", "revision": "revision"}
_EXPIRES = {"expires_us": "instant_us(expires_at)", "term": "term"}
TABLES = {
    "resources": _seen(
        "resources",
        id="id",
        tenant="tenant",
        capacity="capacity",
        occupied="occupied_count",
        revision="revision",
        state="state",
        owner_limit="per_owner_limit",
        locked_first="true",
    ),
    "holds": _seen(
        "holds",
        id="id",
        tenant="tenant",
        quantity="quantity",
        key="idempotency_key",
        ended_us="instant_us(ended_at)",
        **_OWNED,
        **_EXPIRES,
    ),
    "idempotency_records": _seen(
        "idempotency_records",
        id="id",
        tenant="tenant",
        operation="operation",
        key="key",
        fingerprint="fingerprint",
        claimed_until_us="instant_us(lease)",
        claim_us_max="'90000000'",
    ),
    "idempotency_answers": _seen("idempotency_answers", record="record_id", status="status"),
}
OFFERS = _seen("offers", id="id", entry="entry_id", **_OWNED, **_EXPIRES)
RESERVATIONS = _seen("reservations", id="id", hold="hold_id", offer="offer_id", quantity="quantity", **_OWNED)
WAITLIST = _seen(
    "waitlist_entries",
    id="id",
    tenant="tenant",
    seq="seq",
    key="idempotency_key",
    reason="reason",
    **_OWNED,
)
OUTBOX = _seen(
    "outbox",
    delivery="delivery_id",
    entry="entry_id",
    state="state",
    attempts="attempts",
    attempts_max="'5'",
    claim="claim",
    claimed_until_us="instant_us(claimed_until)",
    next_us="instant_us(next_at)",
)
LEASES = _seen(
    "leases",
    slot="slot",
    holder="holder",
    term="term",
    expires_us="instant_us(expires_at)",
    resources_max="'3'",
    rows_max="'2'",
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
        refusals={
            "sold_out": ("CAPACITY_EXHAUSTED",),
            "expired": ("HOLD_EXPIRED", "OFFER_EXPIRED"),
            "key_conflict": ("KEY_CONFLICT",),
            "shed": ("ADMISSION_REFUSED",),
            "transient": ("ADMISSION_REFUSED", "IN_PROGRESS"),
            "final": ("CAPACITY_EXHAUSTED", "HOLD_EXPIRED", "OWNER_MISMATCH"),
        },
    )
