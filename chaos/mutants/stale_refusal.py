"""A node remembers for a while that a resource was full, and turns people away without asking."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from chaos.mutants._refusal import refuse_as_sold_out
from service import errors
from service.reservation import holds

if TYPE_CHECKING:
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answered

MUTANT: Final = Mutant(
    name="stale-refusal",
    mechanism="Once a resource was full, refuses from memory for three seconds, whatever is given back meanwhile.",
    section="limits",
    reports=("chobbledotcom/tickets#2351", "ArtisanPack-UI/bookings#64"),
    scenario="hot_row_stampede",
    caught_by=("sold_out_is_true",),
)
REMEMBERED_SECONDS: Final = 3.0


def plant() -> None:
    """Look into the memory before the database is asked."""
    healthy = holds.place
    full_until: dict[int, float] = {}

    async def place(database: Any, order: Order, **given: Any) -> Answered:
        if full_until.get(order.resource, 0.0) > time.monotonic():
            return await refuse_as_sold_out(database, order, lease=given["lease"])
        answered = await healthy(database, order, **given)
        if answered.answer.body == errors.CAPACITY_EXHAUSTED.body:
            full_until[order.resource] = time.monotonic() + REMEMBERED_SECONDS
        return answered

    holds.place = place
