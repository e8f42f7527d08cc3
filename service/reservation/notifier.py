"""The worker that sends the outbox: claim briefly, send outside any transaction, mark if the claim still stands."""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from service import outbound
from service.errors import Refused
from service.outbound import Unreachable
from service.reservation import outbox
from service.reservation.outbox import Claim, Mark, RetryPolicy

if TYPE_CHECKING:
    from service.database import Database
    from service.settings import Settings

LOG: Final = logging.getLogger("service.notifier")
_OK: Final = range(200, 300)
_DUPLICATE: Final = 409


class Taken(StrEnum):
    """What the provider made of a delivery; the last means that it may be sent again."""

    ACCEPTED = "ACCEPTED"
    DUPLICATE = "DUPLICATE"
    RETRYABLE_FAILURE = "RETRYABLE_FAILURE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round of the notifier did."""

    delivered: int = 0
    failed: int = 0
    stale: int = 0
    exhausted: int = 0
    waiting: int = 0


@dataclass(slots=True)
class Notifier:
    """Sends notices; any number of these may run."""

    database: Database
    settings: Settings

    async def run_once(self) -> Round:
        """Claim what is due, send it, and mark each by what the provider said."""
        policy = RetryPolicy.of(self.settings)
        exhausted = await self.database.autocommit(lambda connection: outbox.exhaust(connection, policy))
        token = secrets.token_hex(16)
        lease = timedelta(seconds=self.settings.notification_claim_seconds)
        claims = await self.database.autocommit(
            lambda connection: outbox.claim(
                connection, token=token, lease=lease, policy=policy, batch=self.settings.notification_batch
            )
        )
        marks = await asyncio.gather(*(self._deliver(claim, policy) for claim in claims))
        return Round(
            delivered=marks.count((Taken.ACCEPTED, Mark.APPLIED))
            + marks.count((Taken.DUPLICATE, Mark.APPLIED)),
            failed=marks.count((Taken.RETRYABLE_FAILURE, Mark.APPLIED)),
            stale=sum(mark is Mark.STALE for _, mark in marks),
            exhausted=exhausted,
            waiting=await self.database.read(outbox.waiting),
        )

    async def stop(self) -> None:
        """Nothing to give back: a claim that is left lapses."""

    async def _deliver(self, claim: Claim, policy: RetryPolicy) -> tuple[Taken, Mark]:
        taken = await self.send(claim)
        try:
            if taken is Taken.RETRYABLE_FAILURE:
                mark = await self.database.autocommit(
                    lambda connection: outbox.mark_failed(connection, claim, policy)
                )
            else:
                mark = await self.database.autocommit(
                    lambda connection: outbox.mark_delivered(connection, claim.delivery_id, claim.token)
                )
        except Refused as refused:
            # The claim lapses, and the next worker sends under the same id: the provider knows it again.
            LOG.warning(
                "a mark was lost",
                extra={"facts": {"delivery": claim.delivery_id, "code": refused.refusal.code}},
            )
            return taken, Mark.STALE
        return taken, mark

    async def send(self, claim: Claim) -> Taken:
        """Send one notice under its delivery id, which never changes, so that the provider can tell a repeat."""
        try:
            told = await outbound.post(
                self.settings.notification_url,
                claim.payload.encode(),
                headers={"Idempotency-Key": claim.delivery_id, "Notification-Kind": claim.kind},
                timeout_ms=self.settings.notification_timeout_ms,
            )
        except Unreachable as error:
            LOG.warning(
                "the provider gave no answer",
                extra={"facts": {"delivery": claim.delivery_id, "error": str(error)}},
            )
            return Taken.RETRYABLE_FAILURE
        if told.status == _DUPLICATE:
            return Taken.DUPLICATE
        return _receipt(told.body) if told.status in _OK else Taken.RETRYABLE_FAILURE


class Receipt(msgspec.Struct, frozen=True):
    """What a provider answers beside a 2xx: `accepted`, or `duplicate` of a delivery that it knew."""

    result: str = "accepted"


def _receipt(body: bytes) -> Taken:
    """Read a provider's receipt; a 2xx that says nothing readable still means that it has the delivery."""
    try:
        known = msgspec.json.decode(body, type=Receipt).result == "duplicate"
    except msgspec.DecodeError:
        known = False
    return Taken.DUPLICATE if known else Taken.ACCEPTED
