"""Two who promote at once pass each other: the second finds the head of the line locked, and takes who stands behind."""

from __future__ import annotations

import asyncio
import random
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, reword
from service.reservation import holds, offers, reservations, resources, waitlist

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from service.reservation.idempotency import Answer
    from service.reservation.rules import Action

    Act = Callable[[Any, Action], Coroutine[Any, Any, Answer]]

MUTANT: Final = Mutant(
    name="skip-locked-head",
    mechanism="Promotes without the lock on the resource, and passes over waiters whom another promotion has locked.",
    section="postgresql",
    reports=("cockroachdb/cockroach#143017",),
    scenario="lock_order",
    caught_by=("fifo_handover",),
    racy=True,
)
SLOW_SECONDS_MAX: Final = 0.1
_PROMOTING: Final = ContextVar("_PROMOTING", default=False)


def plant() -> None:
    """Trust SKIP LOCKED to keep promotions apart."""
    line = "ORDER BY seq LIMIT $2"
    reword(waitlist.SQL, "promote", was=line, now=f"{line} FOR NO KEY UPDATE SKIP LOCKED")
    locked = resources.lock

    async def lock(connection: Any, *, tenant: str, resource: int) -> Any:
        read = resources.find if _PROMOTING.get() else locked
        return await read(connection, tenant=tenant, resource=resource)

    resources.lock = lock
    holds.cancel = _promoting(holds.cancel)  # type: ignore[assignment]  # named arguments are not needed
    offers.decline = _promoting(offers.decline)  # type: ignore[assignment]  # as above
    reservations.cancel = _promoting(reservations.cancel)  # type: ignore[assignment]  # as above


def _promoting(healthy: Act) -> Act:
    async def act(connection: Any, action: Action) -> Answer:
        token = _PROMOTING.set(True)
        try:
            answer = await healthy(connection, action)
        finally:
            _PROMOTING.reset(token)
        await asyncio.sleep(random.uniform(0, SLOW_SECONDS_MAX))  # noqa: S311 - what is to be done before the COMMIT
        return answer

    return act
