"""Somebody who had nothing leaves, and the next in line is offered a seat that does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant, _schema
from service.reservation import handover, resources, waitlist

if TYPE_CHECKING:
    from service.database import Connection
    from service.reservation.idempotency import Answer
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="phantom-supply",
    mechanism="Takes whatever is given up for a seat that came free, a mere place in the line too.",
    section="waitlist",
    reports=("pretix/pretix#1238",),
    scenario="lock_order",
    caught_by=("never_oversold", "occupancy_matches_claims"),
    # A seat that was never counted must not make the count fall below nothing when it is given back.
    schema=(_schema.NO_CAPACITY_CHECK,),
)

_leave = waitlist.leave


def plant() -> None:
    """Promote the next where somebody leaves the line."""
    waitlist.leave = leave


async def leave(connection: Connection, action: Action) -> Answer:
    """Take an owner out of the line and hand over a seat that was never counted."""
    answer = await _leave(connection, action)
    entry = await waitlist.find(connection, tenant=action.tenant, entry=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=entry["resource_id"])
    await handover.promote(connection, room, 1, entry["at"])
    return answer
