"""Where the built-in service's truth lies: its own tables seen as the canonical ones, and what its codes mean."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from checker.brief import CanonicalTable
from scenarios.targets.builtin_times import PREFIX
from scenarios.targets.target import Unsettled

if TYPE_CHECKING:
    from collections.abc import Mapping

REFUSALS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sold_out": ("CAPACITY_EXHAUSTED",),
        "expired": ("HOLD_EXPIRED", "OFFER_EXPIRED"),
        "revision_conflict": ("RESOURCE_REVISION_CONFLICT",),
        "key_conflict": ("IDEMPOTENCY_FINGERPRINT_CONFLICT",),
        # Turned away because too much was asked at once, before the database was asked: what it was too slow for is none.
        "shed": ("ADMISSION_REFUSED", "DEADLINE_PASSED", "POOL_EXHAUSTED"),
        # Never stored under the key.
        "transient": (
            "ADMISSION_REFUSED",
            "DEADLINE_PASSED",
            "POOL_EXHAUSTED",
            "DATABASE_UNAVAILABLE",
            "DATABASE_BUSY",
            "IDEMPOTENCY_IN_PROGRESS",
            "OUTCOME_UNKNOWN",
            "INTERNAL_ERROR",
        ),
        # Stored under the key, and replayed.
        "final": (
            "CAPACITY_EXHAUSTED",
            "RESOURCE_REVISION_CONFLICT",
            "RESOURCE_CLOSED",
            "OWNER_LIMIT_REACHED",
            "OWNER_MISMATCH",
            "REVISION_CONFLICT",
            "POLICY_VERSION_MISMATCH",
            "HOLD_NOT_ACTIVE",
            "HOLD_EXPIRED",
            "SEATS_AVAILABLE",
            "ENTRY_NOT_WAITING",
            "OFFER_NOT_ACTIVE",
            "OFFER_EXPIRED",
            "RESERVATION_NOT_CONFIRMED",
        ),
    }
)


def _table(table: str, **columns: str) -> CanonicalTable:
    return CanonicalTable(table=table, key=("id",), columns={"id": "id", "tenant": "tenant", **columns})


_RESOURCE: Final = "resource_id"
_OWNED: Final = {"resource": _RESOURCE, "owner": "owner_digest", "state": "state"}
_LIVED: Final = {"created_us": "instant_us(created_at)", "ended_us": "instant_us(ended_at)"}
_EXPIRES: Final = {"expires_us": "instant_us(expires_at)"}
_REVISED: Final = {"revision": "revision"}
_SWEPT: Final = {"term": "swept_by_term", "slot": "'reservation-expiry-sweeper'"}
# How the service calls a command in its idempotency records, and how operations call it.
_COMMANDS: Final = {
    "hold.confirm": "confirm",
    "hold.cancel": "cancel",
    "waitlist.join": "join_waitlist",
    "waitlist.leave": "leave_waitlist",
    "offer.accept": "accept_offer",
    "offer.decline": "decline_offer",
    "reservation.cancel": "cancel_reservation",
    "resource.close": "close",
}
_OPERATION: Final = (
    "CASE operation "
    + " ".join(f"WHEN '{theirs}' THEN '{ours}'" for theirs, ours in _COMMANDS.items())
    + " ELSE operation END"
)
# Which setting of the service says where a limit lies, in how many units of evidence each of its units counts, and what
# holds where a run sets nothing: (table, limit) → (setting, units, default).
_LIMITS: Final[Mapping[tuple[str, str], tuple[str, int, float]]] = MappingProxyType(
    {
        ("idempotency_records", "claim_us_max"): ("IDEMPOTENCY_LEASE_SECONDS", 1_000_000, 90),
        ("outbox", "attempts_max"): ("NOTIFICATION_ATTEMPTS_MAX", 1, 5),
        ("leader_leases", "resources_max"): ("SWEEP_RESOURCES_MAX", 1, 32),
        ("leader_leases", "rows_max"): ("SWEEP_ROWS_MAX", 1, 500),
    }
)


def tables_under(settings: Mapping[str, str]) -> Mapping[str, CanonicalTable]:
    """Return the tables with the limits that hold under the settings of a run; raises ValueError where one is no number."""
    limits: dict[str, dict[str, str]] = {}
    for (table, limit), (setting, units, default) in _LIMITS.items():
        most = round(float(settings.get(f"{PREFIX}{setting}", default)) * units)
        limits.setdefault(table, {})[limit] = f"'{most}'"
    return MappingProxyType(
        {
            name: msgspec.structs.replace(table, columns={**table.columns, **limits.get(name, {})})
            for name, table in _UNLIMITED.items()
        }
    )


_UNLIMITED: Final[Mapping[str, CanonicalTable]] = MappingProxyType(
    {
        "resources": _table(
            "resources",
            capacity="capacity",
            occupied="occupied_count",
            state="state",
            policy_version="policy_version",
            owner_limit="per_owner_limit",
            locked_first="true",
            **_REVISED,
        ),
        "holds": _table(
            "holds",
            quantity="quantity",
            key="idempotency_key",
            policy_version="policy_version",
            **_OWNED,
            **_REVISED,
            **_LIVED,
            **_EXPIRES,
            **_SWEPT,
        ),
        "reservations": _table(
            "reservations",
            quantity="quantity",
            hold="hold_id",
            offer="offer_id",
            key="NULL",
            **_OWNED,
            **_REVISED,
            **_LIVED,
        ),
        "waitlist_entries": _table(
            "waitlist_entries",
            seq="seq",
            reason="reason",
            key="idempotency_key",
            **_OWNED,
            **_REVISED,
            **_LIVED,
        ),
        "offers": _table(
            "offers", entry="entry_id", quantity="'1'", **_OWNED, **_REVISED, **_LIVED, **_EXPIRES, **_SWEPT
        ),
        "idempotency_records": _table(
            "idempotency_records",
            operation=_OPERATION,
            key="key",
            fingerprint="fingerprint",
            claimed_until_us="instant_us(lease_expires_at)",
        ),
        "idempotency_answers": CanonicalTable(
            table="idempotency_answers",
            key=("record_id",),
            columns={"record": "record_id", "status": "status"},
        ),
        "outbox": CanonicalTable(
            table="notification_outbox",
            key=("id",),
            columns={
                "delivery": "delivery_id",
                "tenant": "tenant",
                "kind": "kind",
                "entry": "nullif(regexp_extract(delivery_id, '^waitlist-([0-9]+)-offered$', 1), '')",
                "state": "state",
                "attempts": "attempt_count",
                "claim": "claim_token",
                "claimed_until_us": "instant_us(claim_expires_at)",
                "next_us": "instant_us(next_attempt_at)",
                **_LIVED,
            },
        ),
        "leader_leases": CanonicalTable(
            table="leader_leases",
            key=("slot",),
            columns={
                "slot": "slot",
                "holder": "holder",
                "term": "term",
                "expires_us": "instant_us(expires_at)",
            },
        ),
    }
)
TABLES: Final = tables_under({})
UNSETTLED: Final = (
    Unsettled(
        what="holds to end",
        query="SELECT count(*) FROM holds WHERE state = 'ACTIVE' AND expires_at <= $1",
        settled_by="expiry",
    ),
    Unsettled(
        what="offers to end",
        query="SELECT count(*) FROM offers WHERE state = 'ACTIVE' AND expires_at <= $1",
        settled_by="expiry",
    ),
    # A notification may wait for its next attempt beyond the horizon: it is owed all the same.
    Unsettled(
        what="notifications to send",
        query="SELECT count(*) FROM notification_outbox WHERE state IN ('PENDING', 'CLAIMED') AND $1::timestamptz IS NOT NULL",
        settled_by="notifier",
    ),
    Unsettled(
        what="claimed keys without an answer",
        query="""
            SELECT count(*) FROM idempotency_records AS r
            WHERE lease_expires_at > clock_timestamp() AND lease_expires_at <= $1
              AND NOT EXISTS (SELECT FROM idempotency_answers WHERE record_id = r.id)
        """,
    ),
)
