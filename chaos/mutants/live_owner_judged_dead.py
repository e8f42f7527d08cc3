"""A claim without a deadline counts as abandoned: whoever asks again while the first still works, works too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _twins, reword
from service.reservation import holds, idempotency
from service.reservation.idempotency import Takeover

if TYPE_CHECKING:
    from service.database import Connection
    from service.reservation.holds import Order
    from service.reservation.idempotency import Acquired, Answer, Scope

MUTANT: Final = Mutant(
    name="live-owner-judged-dead",
    mechanism="Claims a key without a deadline, takes a claim without one for abandoned, and fences nobody off.",
    section="idempotency",
    reports=("aws-powertools/powertools-lambda-typescript#5680",),
    scenario="timeout_retry",
    caught_by=("one_effect_per_key",),
    racy=True,
    schema=("ALTER TABLE idempotency_records ALTER COLUMN lease_expires_at DROP NOT NULL",),
)

_SLOW_SECONDS: Final = 0.05  # the first call is slow, and the second comes meanwhile
_take_counted = holds.take_counted


def plant() -> None:
    """Claim without a deadline, and let everybody in who finds such a claim."""
    # A lease from an instant that nobody gave: NULL.
    reword(
        idempotency.SQL,
        "claim",
        was="coalesce($6::timestamptz, clock_timestamp()) + $7::interval",
        now="$6::timestamptz + $7::interval",
    )
    # Its records bear no token: whoever is done writes the answer, whoever has begun meanwhile.
    reword(idempotency.SQL, "stand", was=" AND owner_token = $2 FOR NO KEY UPDATE", now=" AND $2::text <> ''")
    reword(idempotency.SQL, "finalize", was=" AND owner_token = $2", now=" AND $2::text <> ''")
    reword(
        idempotency.SQL,
        "finalize",
        was="ON CONFLICT (record_id) DO NOTHING",
        now="ON CONFLICT (record_id) DO UPDATE SET status = excluded.status, body = excluded.body",
    )
    idempotency.contest = contest
    holds.take = take_nothing
    holds.take_counted = take_counted
    _twins.let_twins_meet()


async def contest(connection: Connection, scope: Scope, mark: str, token: str, **_: Any) -> Acquired:
    """Say what a known key allows: without an answer, to begin again."""
    seen = await idempotency._read(connection, scope, at=None)
    return idempotency.settled(seen, mark) or Takeover(seen["id"], token)


async def take_nothing(connection: Connection, order: Order, **_: Any) -> None:
    """Leave every hold to the path of two steps: where key and seat are one statement, nobody is in between."""


async def take_counted(connection: Connection, order: Order, **named: Any) -> Answer:
    """Take a seat as the service does, slowly."""
    await asyncio.sleep(_SLOW_SECONDS)
    return await _take_counted(connection, order, **named)
