"""Notices to be sent: written with the change that they tell of, claimed for a while, marked by who claimed them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from service import statements
from service.reservation import rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from service.database import Connection
    from service.settings import Settings

SQL: Final = statements.load("service.reservation", "outbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a delivery is tried, and how long it rests in between, doubling from the first to the longest."""

    max_attempts: int = 5
    initial_delay: timedelta = timedelta(seconds=2)
    max_delay: timedelta = timedelta(seconds=10)

    @classmethod
    def of(cls, settings: Settings) -> RetryPolicy:
        """Read it from the settings."""
        return cls(
            max_attempts=settings.notification_attempts_max,
            initial_delay=timedelta(seconds=settings.notification_retry_initial_seconds),
            max_delay=timedelta(seconds=settings.notification_retry_max_seconds),
        )

    def delay(self, attempt: int) -> timedelta:
        """Return how long to rest after the `attempt`-th failure."""
        return timedelta(
            seconds=rules.retry_delay(
                attempt,
                initial_seconds=self.initial_delay.total_seconds(),
                max_seconds=self.max_delay.total_seconds(),
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something to be told once: `delivery_id` never changes, so that the provider can tell a repeat."""

    delivery_id: str
    kind: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One notice that `token` may send now; `attempt` counts from 1."""

    delivery_id: str
    kind: str
    payload: str
    token: str
    attempt: int


class Mark(StrEnum):
    """Whether a mark was applied, or came after the claim had passed to another."""

    APPLIED = "APPLIED"
    STALE = "STALE"


async def enqueue(connection: Connection, tenant: str, notices: Sequence[Notice], at: datetime) -> int:
    """Put notices in the outbox; return how many were not there already."""
    made = await SQL["enqueue"].rows(
        connection,
        tenant=tenant,
        deliveries=[notice.delivery_id for notice in notices],
        kinds=[notice.kind for notice in notices],
        payloads=[notice.payload for notice in notices],
        at=at,
    )
    return len(made)


async def waiting(connection: Connection) -> int:
    """Return how many notices are still to be sent."""
    found: int = await SQL["depth"].value(connection)
    return found


async def claim(
    connection: Connection,
    *,
    token: str,
    lease: timedelta,
    policy: RetryPolicy,
    batch: int = 1,
    delivery: str | None = None,
    at: datetime | None = None,
) -> list[Claim]:
    """Claim up to `batch` notices that are due, or the one named, for `token`; each claim counts as an attempt."""
    rows = await SQL["claim"].rows(
        connection,
        token=token,
        lease=lease,
        attempts=policy.max_attempts,
        batch=batch,
        delivery=delivery,
        at=at,
    )
    return [
        Claim(
            delivery_id=row["delivery_id"],
            kind=row["kind"],
            payload=row["payload"],
            token=token,
            attempt=row["attempt_count"],
        )
        for row in rows
    ]


async def exhaust(connection: Connection, policy: RetryPolicy, *, at: datetime | None = None) -> int:
    """End the notices whose last attempt lapsed; return how many."""
    return len(await SQL["exhaust"].rows(connection, attempts=policy.max_attempts, at=at))


async def mark_delivered(
    connection: Connection, delivery: str, token: str, *, at: datetime | None = None
) -> Mark:
    """Record that the provider has taken a notice."""
    marked = await SQL["mark_delivered"].value(connection, delivery=delivery, token=token, at=at)
    return Mark.STALE if marked is None else Mark.APPLIED


async def mark_failed(
    connection: Connection, claimed: Claim, policy: RetryPolicy, *, at: datetime | None = None
) -> Mark:
    """Record that a notice was not taken: it rests and is tried again, or has been tried often enough."""
    marked = await SQL["mark_failed"].row(
        connection,
        delivery=claimed.delivery_id,
        token=claimed.token,
        attempts=policy.max_attempts,
        delay=policy.delay(claimed.attempt),
        at=at,
    )
    return Mark.STALE if marked is None else Mark.APPLIED
