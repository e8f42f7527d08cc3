"""The domain's rules as pure tables and functions: states, legal moves, deadlines.

The same moves stand twice more, in the schema's checks and triggers and in docs/state-charts.md; a test compares all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from service import errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from service.errors import Refusal


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


def offer_delivery(entry: int) -> str:
    """Return the stable id under which the offer to a waitlist entry is announced, once."""
    return f"waitlist-{entry}-offered"


def retry_delay(attempt: int, *, initial_seconds: float, max_seconds: float) -> float:
    """Return how long a delivery rests after its `attempt`-th failure: doubling from the first to the longest."""
    return min(initial_seconds * 2.0 ** (attempt - 1), max_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What an owner wants done to a row of theirs; with `expected_revision` only if nothing has changed it since."""

    tenant: str
    owner_digest: str
    id: int
    expected_revision: int | None = None
    at: datetime | None = None  # given by tests only; else the database's clock decides


def hold_refusal(hold: Mapping[str, Any], action: Action, *, policy_version: int) -> Refusal | None:
    """Return why a hold may not be confirmed or cancelled, or None; `hold["at"]` is the time after the lock."""
    if hold["owner_digest"] != action.owner_digest:
        return errors.OWNER_MISMATCH
    if hold["state"] != HoldState.ACTIVE:
        return errors.HOLD_NOT_ACTIVE
    if action.expected_revision not in (None, hold["revision"]):
        return errors.REVISION_CONFLICT
    if hold["policy_version"] != policy_version:
        return errors.POLICY_VERSION_MISMATCH
    return errors.HOLD_EXPIRED if hold["expires_at"] <= hold["at"] else None


def offer_refusal(offer: Mapping[str, Any], action: Action) -> Refusal | None:
    """Return why an offer may not be accepted or declined, or None; `offer["at"]` is the time after the lock."""
    if offer["owner_digest"] != action.owner_digest:
        return errors.OWNER_MISMATCH
    if offer["state"] != OfferState.ACTIVE:
        return errors.OFFER_NOT_ACTIVE
    if action.expected_revision not in (None, offer["revision"]):
        return errors.REVISION_CONFLICT
    return errors.OFFER_EXPIRED if offer["expires_at"] <= offer["at"] else None


def entry_refusal(entry: Mapping[str, Any], action: Action) -> Refusal | None:
    """Return why a waitlist entry may not leave the line, or None."""
    if entry["owner_digest"] != action.owner_digest:
        return errors.OWNER_MISMATCH
    return None if entry["state"] == EntryState.WAITING else errors.ENTRY_NOT_WAITING


def reservation_refusal(reservation: Mapping[str, Any], action: Action) -> Refusal | None:
    """Return why a reservation may not be cancelled, or None."""
    if reservation["owner_digest"] != action.owner_digest:
        return errors.OWNER_MISMATCH
    return None if reservation["state"] == ReservationState.CONFIRMED else errors.RESERVATION_NOT_CONFIRMED
