"""Two who end the same hold both find it live, and both give its seats back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _schema, reword
from service.errors import Refused
from service.reservation import bodies, handover, holds, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="release-race",
    mechanism="Looks whether a hold is live before it has the lock, and then cancels it whatever it has become: its seats "
    "come back once for each who did.",
    section="holds",
    reports=("magento/inventory#1849", "magento/inventory#1878", "woocommerce/woocommerce#27504"),
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims", "terminal_rows_never_change"),
    racy=True,
    schema=(
        _schema.any_move("holds"),
        _schema.NO_CAPACITY_CHECK,
    ),
)

# Such code asks a payment provider here, or a queue.
BETWEEN_SECONDS: Final = 0.02


def plant() -> None:
    """Take the state out of the UPDATE that cancels, and check it too early to be worth anything."""
    reword(holds.SQL, "cancel", was=" AND state = 'ACTIVE'", now="")
    holds.cancel = cancel


async def cancel(connection: Any, action: Action) -> Answer:
    """End a hold that was live a moment ago, and hand its seats over; raises Refused."""
    seen = await holds.find(connection, tenant=action.tenant, hold=action.id)
    free = await resources.find(connection, tenant=action.tenant, resource=seen["resource_id"])
    hold = await holds.SQL["look"].row(connection, hold=action.id, at=action.at)
    if (refusal := rules.hold_refusal(hold, action, policy_version=free["policy_version"])) is not None:
        raise Refused(refusal)
    await asyncio.sleep(BETWEEN_SECONDS)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    ended = await holds.SQL["cancel"].row(connection, hold=action.id, at=hold["at"])
    await handover.promote_or_release(connection, room, ended["quantity"], hold["at"])
    return Answer(200, bodies.encoded(bodies.Hold.of(ended)))
