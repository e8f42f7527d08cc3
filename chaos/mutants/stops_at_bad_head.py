"""The head of the line declines, and nobody behind is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.errors import Refused
from service.reservation import bodies, handover, offers, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.database import Connection
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="stops-at-bad-head",
    mechanism="Ends a promotion with the first in line who does not take the seat, instead of asking the next.",
    section="waitlist",
    reports=(
        "xooom-community/product#130",
        "SandeepVashishtha/Eventra#11892",
        "SandeepVashishtha/Eventra#13345",
    ),
    scenario="lock_order",
    caught_by=("no_gap_in_handover",),
)


def plant() -> None:
    """Put the declining that asks nobody else in the place of the service's."""
    offers.decline = decline


async def decline(connection: Connection, action: Action) -> Answer:
    """End a live offer and let its seat fall from the count, whoever waits."""
    seen = await offers.find(connection, tenant=action.tenant, offer=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    offer = await offers.find(connection, tenant=action.tenant, offer=action.id)
    if (refusal := rules.offer_refusal(offer, action)) is not None:
        raise Refused(refusal)
    ended = await offers.SQL["decline"].row(connection, offer=action.id, at=offer["at"])
    await handover.release(connection, room, 1)
    return Answer(200, bodies.encoded(bodies.Offer.of(ended)))
