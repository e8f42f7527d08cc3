"""The two-step path: commit the claim on a key, then work and answer in one transaction that the claim must survive."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from service import errors
from service.errors import Refused
from service.reservation import idempotency
from service.reservation.idempotency import (
    Acquired,
    Answer,
    Answered,
    FingerprintConflict,
    InProgress,
    New,
    Replay,
    Scope,
    Takeover,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from service.database import Connection, Database


async def execute(
    database: Database,
    scope: Scope,
    mark: str,
    work: Callable[[Connection], Awaitable[Answer]],
    *,
    lease: timedelta,
) -> Answered:
    """Carry a command out by the two-step path: commit the claim, then work and answer in one transaction.

    Raises Refused; a final refusal is stored like an answer, and what `work` did before it is rolled back.
    """
    token = secrets.token_hex(16)
    acquired: Acquired | None = await database.autocommit(
        lambda connection: idempotency.claim(connection, scope, mark, token, lease=lease)
    )
    if acquired is None:
        acquired = await database.transaction(
            lambda connection: idempotency.contest(connection, scope, mark, token, lease=lease)
        )
    match acquired:
        case Replay(status, body):
            return Answered(Answer(status, body), replayed=True)
        case FingerprintConflict():
            raise Refused(errors.IDEMPOTENCY_FINGERPRINT_CONFLICT)
        case InProgress(remaining):
            raise Refused(
                errors.IDEMPOTENCY_IN_PROGRESS,
                retry_after_ms=max(1, int(remaining / timedelta(milliseconds=1))),
            )
        case New(record, _) | Takeover(record, _):
            return Answered(await _carry_out(database, record, token, work), replayed=False)


async def _carry_out(
    database: Database, record: int, token: str, work: Callable[[Connection], Awaitable[Answer]]
) -> Answer:
    async def settle(connection: Connection) -> Answer:
        if await idempotency.SQL["stand"].value(connection, record=record, token=token) is None:
            raise Refused(errors.IDEMPOTENCY_IN_PROGRESS)
        answer = await work(connection)
        if not await idempotency.finalize(connection, record, token, answer):
            raise Refused(errors.IDEMPOTENCY_IN_PROGRESS)
        return answer

    try:
        return await database.transaction(settle)
    except Refused as refused:
        if not refused.refusal.final:
            if refused.refusal.definite:
                await _give_up(database, record, token)
            raise
        answer = Answer(refused.refusal.status, refused.refusal.body)
    if not await database.transaction(
        lambda connection: idempotency.finalize(connection, record, token, answer)
    ):
        raise Refused(errors.IDEMPOTENCY_IN_PROGRESS)
    return answer


async def _give_up(database: Database, record: int, token: str) -> None:
    """End the claim early if that can be had; else the lease does it."""
    try:
        await database.autocommit(
            lambda connection: idempotency.SQL["give_up"].value(connection, record=record, token=token)
        )
    except Refused:
        return
