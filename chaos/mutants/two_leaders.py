"""A sweeper that has once been elected goes on sweeping, whether or not its lease was renewed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import leadership

if TYPE_CHECKING:
    from service.reservation.leadership import Term

MUTANT: Final = Mutant(
    name="two-leaders",
    mechanism="Does not read what came of renewing its lease, and no longer checks the term with each transaction.",
    section="leaders",
    reports=(
        "kubernetes/kubernetes#23731",
        "kubernetes/kubernetes#125761",
        "dkron-io/dkron#541",
        "mlflow/mlflow#25199",
    ),
    scenario="leader_pause",
    caught_by=("stale_leaders_change_nothing",),
)


def plant() -> None:
    """Remember the term of the first election, and let every transaction pass."""
    healthy = leadership.elect
    won: Term | None = None

    async def elect(database: Any, **given: Any) -> Term | None:
        nonlocal won
        term = await healthy(database, **given)
        won = won or term
        return won

    async def fence(connection: Any, term: Term) -> None:
        """Let it pass."""
        del connection, term

    leadership.elect = elect
    leadership.fence = fence
