"""All that is due is ended in one transaction: one row that fails takes the others back with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import expiry, leadership
from service.reservation.sweeper import Outcome, Sweep, Sweeper

if TYPE_CHECKING:
    from service.reservation.expiry import Summary
    from service.reservation.leadership import Term

MUTANT: Final = Mutant(
    name="sweep-aborts-together",
    mechanism="Ends all that is due in one transaction, so that each resource waits for the others and falls with them.",
    section="leaders",
    reports=("hashview/hashview#266", "aegra/aegra#545", "param20h/PDF-Assistant-RAG#650"),
    scenario="sweeper_backlog",
    caught_by=("sweeps_are_bounded",),
)


def plant() -> None:
    """Put one transaction round the whole tick."""

    async def sweep(self: Sweeper, term: Term) -> Sweep:
        limits = self.settings

        async def work(connection: Any) -> list[Summary]:
            await leadership.fence(connection, term)
            return [
                await expiry.finalize_expired_resource(
                    connection, due, rows=limits.sweep_rows_max, term=term.number
                )
                for due in await expiry.find_due(connection, limit=limits.sweep_resources_max)
            ]

        return Sweep(outcome=Outcome.ELECTED, summaries=tuple(await self.database.transaction(work)))

    Sweeper._sweep = sweep  # type: ignore[method-assign]  # that is how a bug is planted
