"""`ON CONFLICT DO NOTHING RETURNING` gave no row, and the node had not thought of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import holds
from service.reservation.idempotency import Answered

if TYPE_CHECKING:
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="on-conflict-none",
    mechanism="Expects a row of an INSERT that does nothing where the key is known, and fails without one.",
    section="postgresql",
    reports=("Kinto/kinto#1525", "oxidecomputer/omicron#1168", "elixir-ecto/ecto#3910"),
    scenario="hot_row_stampede",
    caught_by=("errors_are_earned",),
)


def plant() -> None:
    """Answer with what came back, whether or not anything did."""

    async def place(database: Any, order: Order, **_given: Any) -> Answered:
        fresh = await holds.take_alone(database, order)
        return Answered(fresh, replayed=False)  # type: ignore[arg-type]  # None is the bug

    holds.place = place
