"""A lock of the session is let go at the end of the work, and only there: a refusal keeps it, and the pool does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import holds

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from service.reservation.idempotency import Answer
    from service.reservation.rules import Action

    Act = Callable[[Any, Action], Coroutine[Any, Any, Answer]]

MUTANT: Final = Mutant(
    name="advisory-leak",
    mechanism="Confirms and cancels under an advisory lock of the session, which a refusal leaves locked in the pool.",
    section="postgresql",
    reports=("goauthentik/authentik#23876", "PostHog/posthog#66932", "pgdogdev/pgdog#1407"),
    scenario="stolen_offer",
    caught_by=("no_leaked_transactions",),
)


def plant() -> None:
    """Lock before, unlock after, and forget that the work may not come to its end."""
    holds.confirm = _locked(holds.confirm)  # type: ignore[assignment]  # named arguments are not needed
    holds.cancel = _locked(holds.cancel)  # type: ignore[assignment]  # as above


def _locked(healthy: Act) -> Act:
    async def act(connection: Any, action: Action) -> Answer:
        await connection.execute("SELECT pg_advisory_lock($1)", action.id)
        answer = await healthy(connection, action)
        await connection.execute("SELECT pg_advisory_unlock($1)", action.id)
        return answer

    return act
