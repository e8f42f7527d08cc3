"""The database is away for a moment, and whoever asks again is told so for ever."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.errors import Refused
from service.reservation import once
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from service.database import Connection, Database
    from service.reservation.idempotency import Scope

MUTANT: Final = Mutant(
    name="error-pinned",
    mechanism="Stores whatever a command was answered under its key, a failure that would have passed too.",
    section="idempotency",
    reports=("ikyriak/IdempotentAPI#37", "LabsCrypt/remitlend#1329", "KanishJebaMathewM/Truxify#2869"),
    scenario="pool_exhaustion",
    caught_by=("transient_answers_are_not_pinned",),
)

STORES_MAX: Final = 5
_carry_out = once._carry_out
_give_up = once._give_up
_at_work: set[str] = set()


def plant() -> None:
    """Store every answer."""
    once._carry_out = carry_out
    once._give_up = give_up


async def give_up(database: Database, scope: Scope, token: str) -> None:
    """Keep the claim of a command that is carried out, under which its failure is to be stored."""
    if token not in _at_work:
        await _give_up(database, scope, token)


async def carry_out(
    database: Database,
    scope: Scope,
    record: int,
    token: str,
    work: Callable[[Connection], Awaitable[Answer]],
) -> Answer:
    """Work and answer as the service does, and store the answer whatever it is."""
    _at_work.add(token)
    try:
        return await _carry_out(database, scope, record, token, work)
    except Refused as refused:
        answer = Answer(refused.refusal.status, refused.refusal.body)
        for _ in range(STORES_MAX):
            # Such a store is a place of its own, which the trouble has not reached.
            with suppress(Refused):
                return await once._store(database, scope, record, token, answer)
        raise
    finally:
        _at_work.discard(token)
