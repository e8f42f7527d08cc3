"""The domain's rules as pure tables and functions: states, legal moves, deadlines.

The same moves stand twice more, in the schema's checks and triggers and in docs/state-charts.md; a test compares all three.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class ResourceState(StrEnum):
    """OPEN → CLOSED."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"


class HoldState(StrEnum):
    """ACTIVE → CONFIRMED | CANCELLED | EXPIRED."""

    ACTIVE = "ACTIVE"
    CONFIRMED = "CONFIRMED"
    CANCELLED = "CANCELLED"
    EXPIRED = "EXPIRED"


class ReservationState(StrEnum):
    """CONFIRMED → CANCELLED."""

    CONFIRMED = "CONFIRMED"
    CANCELLED = "CANCELLED"


class EntryState(StrEnum):
    """WAITING → OFFERED → ACCEPTED | DECLINED | EXPIRED, and WAITING → LEFT."""

    WAITING = "WAITING"
    OFFERED = "OFFERED"
    ACCEPTED = "ACCEPTED"
    DECLINED = "DECLINED"
    EXPIRED = "EXPIRED"
    LEFT = "LEFT"


class OfferState(StrEnum):
    """ACTIVE → ACCEPTED | DECLINED | EXPIRED."""

    ACTIVE = "ACTIVE"
    ACCEPTED = "ACCEPTED"
    DECLINED = "DECLINED"
    EXPIRED = "EXPIRED"


class DeliveryState(StrEnum):
    """PENDING → CLAIMED → DELIVERED | PENDING (retry) | CLAIMED (lease over, new token) | EXHAUSTED."""

    PENDING = "PENDING"
    CLAIMED = "CLAIMED"
    DELIVERED = "DELIVERED"
    EXHAUSTED = "EXHAUSTED"


Moves = frozenset[tuple[str, str]]

TRANSITIONS: Final[Mapping[str, Moves]] = {
    "resources": frozenset({("OPEN", "CLOSED")}),
    "holds": frozenset({("ACTIVE", "CONFIRMED"), ("ACTIVE", "CANCELLED"), ("ACTIVE", "EXPIRED")}),
    "reservations": frozenset({("CONFIRMED", "CANCELLED")}),
    "waitlist_entries": frozenset(
        {
            ("WAITING", "OFFERED"),
            ("WAITING", "LEFT"),
            ("OFFERED", "ACCEPTED"),
            ("OFFERED", "DECLINED"),
            ("OFFERED", "EXPIRED"),
        }
    ),
    "offers": frozenset({("ACTIVE", "ACCEPTED"), ("ACTIVE", "DECLINED"), ("ACTIVE", "EXPIRED")}),
    "notification_outbox": frozenset(
        {
            ("PENDING", "CLAIMED"),
            ("CLAIMED", "DELIVERED"),
            ("CLAIMED", "PENDING"),
            ("CLAIMED", "CLAIMED"),
            ("CLAIMED", "EXHAUSTED"),
        }
    ),
}

STATES: Final[Mapping[str, type[StrEnum]]] = {
    "resources": ResourceState,
    "holds": HoldState,
    "reservations": ReservationState,
    "waitlist_entries": EntryState,
    "offers": OfferState,
    "notification_outbox": DeliveryState,
}


def delivery_id(entry: int) -> str:
    """Return the stable id under which the offer to a waitlist entry is announced, once."""
    return f"waitlist-{entry}-offered"


def retry_delay(attempt: int, *, initial_seconds: float, max_seconds: float) -> float:
    """Return how long a delivery rests after its `attempt`-th failure: doubling from the first to the longest."""
    return min(initial_seconds * 2.0 ** (attempt - 1), max_seconds)
