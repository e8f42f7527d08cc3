"""The two-step path: commit the claim on a key, then work and answer in one transaction that the claim must survive."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from service import deadline, errors
from service.deadline import TooLate
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
    acquired = await _acquire(database, scope, mark, token, lease)
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
            return Answered(await _carry_out(database, scope, record, token, work), replayed=False)


async def _acquire(database: Database, scope: Scope, mark: str, token: str, lease: timedelta) -> Acquired:
    try:
        async with deadline.cut():  # it commits, but only a claim
            fresh = await database.autocommit(
                lambda connection: idempotency.claim(connection, scope, mark, token, lease=lease)
            )
        if fresh is not None:
            return fresh
        return await database.transaction(
            lambda connection: idempotency.contest(connection, scope, mark, token, lease=lease)
        )
    except TooLate as late:
        await _give_up(database, scope, token)
        raise Refused(errors.DATABASE_BUSY) from late
    except Refused as refused:
        if refused.refusal.definite:
            raise
        # Whether the claim stands is unknown, but no work was begun: that much is certain.
        await _give_up(database, scope, token)
        raise Refused(errors.DATABASE_UNAVAILABLE) from refused


async def _carry_out(
    database: Database,
    scope: Scope,
    record: int,
    token: str,
    work: Callable[[Connection], Awaitable[Answer]],
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
                await _give_up(database, scope, token)
            raise
        answer = Answer(refused.refusal.status, refused.refusal.body)
    except Exception:
        # It was raised before the COMMIT, or is the server's own word that there was none.
        await _give_up(database, scope, token)
        raise
    return await _store(database, scope, record, token, answer)


async def _store(database: Database, scope: Scope, record: int, token: str, answer: Answer) -> Answer:
    """Store a final refusal, whose work was rolled back."""
    try:
        stored = await database.transaction(
            lambda connection: idempotency.finalize(connection, record, token, answer)
        )
    except Refused as refused:
        if refused.refusal.definite:
            await _give_up(database, scope, token)
        raise
    if not stored:
        raise Refused(errors.IDEMPOTENCY_IN_PROGRESS)
    return answer


async def _give_up(database: Database, scope: Scope, token: str) -> None:
    """End the claim early if that can be had, after the answer if need be; else the lease does it."""

    async def end() -> None:
        with suppress(Refused):
            await database.autocommit(
                lambda connection: idempotency.SQL["give_up"].value(
                    connection, tenant=scope.tenant, operation=scope.operation, key=scope.key, token=token
                )
            )

    await deadline.see_to(end())
