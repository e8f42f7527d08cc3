"""The head of the line declines or never answers, and nobody behind is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.errors import Refused
from service.reservation import bodies, expiry, handover, offers, resources, rules
from service.reservation.expiry import Summary
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection
    from service.reservation.expiry import Due
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
    scenario="offer_expiry",
    caught_by=("no_gap_in_handover", "nothing_left_behind"),
)


def plant() -> None:
    """Let an offer that comes to nothing end the promotion."""
    offers.decline = decline
    expiry.finalize_expired_resource = finalize


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


async def finalize(
    connection: Connection, due: Due, *, rows: int, term: int | None = None, at: datetime | None = None
) -> Summary:
    """End what is overdue; hand over the seats of holds, and let those of offers fall from the count."""
    room = await resources.lock(connection, tenant=due.tenant, resource=due.resource)
    now = await resources.clock(connection, at)
    about = {"resource": due.resource, "at": now, "rows": rows, "term": term}
    held = await expiry.SQL["expire_holds"].rows(connection, **about)
    offered = await expiry.SQL["expire_offers"].rows(connection, **about)
    seats = sum(hold["quantity"] for hold in held)
    promoted = await handover.promote_or_release(connection, room, seats, now) if seats else 0
    if offered:
        await handover.release(connection, room, len(offered))
    return Summary(expired_holds=len(held), expired_offers=len(offered), promoted_entries=promoted)
