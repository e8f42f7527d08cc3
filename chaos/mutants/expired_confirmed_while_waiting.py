"""The time is read before the lock: whoever waited for the row is judged by the time at which they began to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.errors import Refused
from service.reservation import holds, resources, rules

if TYPE_CHECKING:
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="expired-confirmed-while-waiting",
    mechanism="Reads the time before it has the lock on the row: a hold that ran out in the queue for it is confirmed all the same.",
    section="holds",
    reports=("ShipfoxHQ/shipfox#1273", "nextlyhq/nextly#777"),
    scenario="held_up",
    caught_by=("nothing_happens_after_expiry",),
    racy=True,
)


def plant() -> None:
    """Look at the clock first, and lock then."""
    holds._checked = checked


async def checked(connection: Any, action: Action) -> tuple[Any, Any]:
    """Return a hold's resource and its row, both after the lock, with the time before it; raises Refused."""
    seen = await holds.find(connection, tenant=action.tenant, hold=action.id)
    at = await resources.clock(connection, action.at)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    hold = await holds.SQL["look"].row(connection, hold=action.id, at=at)
    if (refusal := rules.hold_refusal(hold, action, policy_version=room["policy_version"])) is not None:
        raise Refused(refusal)
    return room, hold
