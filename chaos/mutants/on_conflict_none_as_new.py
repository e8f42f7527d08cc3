"""`ON CONFLICT DO NOTHING RETURNING` gave no row, and the node carries the command out once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import holds
from service.reservation.idempotency import Answered

if TYPE_CHECKING:
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="on-conflict-none-as-new",
    mechanism="Takes the missing row of a known key for a command that still has to be carried out, and does so again.",
    section="postgresql",
    reports=("Kinto/kinto#1525", "oxidecomputer/omicron#1168", "elixir-ecto/ecto#3910"),
    scenario="timeout_retry",
    caught_by=("one_effect_per_key",),
)


def plant() -> None:
    """Decide the hold by the other path, which asks for no key."""

    async def place(database: Any, order: Order, **_given: Any) -> Answered:
        answer = await holds.take_alone(database, order)
        if answer is None:
            answer = await database.transaction(lambda connection: holds.take_counted(connection, order))
        return Answered(answer, replayed=False)

    holds.place = place
