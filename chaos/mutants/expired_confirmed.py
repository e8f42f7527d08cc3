"""The money comes after the hold has run out, and the hold is confirmed all the same: its state still said yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors
from service.errors import Refused
from service.reservation import bodies, holds, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="expired-confirmed",
    mechanism="Confirms a hold by its state alone: until a sweep has come by, its time may be long over.",
    section="holds",
    reports=("pretix/pretix#74", "alfio-event/alf.io#531", "hoangdaochuz/booking#31"),
    scenario="sweeper_backlog",
    caught_by=("nothing_happens_after_expiry",),
)


def plant() -> None:
    """Take the deadline out of the confirming of a hold."""
    holds.confirm = confirm


async def confirm(connection: Any, action: Action) -> Answer:
    """Turn a hold that is still ACTIVE into a reservation; raises Refused."""
    seen = await holds.find(connection, tenant=action.tenant, hold=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    hold = await holds.SQL["look"].row(connection, hold=action.id, at=action.at)
    refusal = rules.hold_refusal(hold, action, policy_version=room["policy_version"])
    if refusal not in (None, errors.HOLD_EXPIRED):
        raise Refused(refusal)
    reservation = await holds.SQL["confirm"].row(connection, hold=action.id, at=hold["at"])
    return Answer(201, bodies.encoded(bodies.Reservation.of(reservation)))
