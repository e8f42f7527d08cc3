"""A cancellation arrives after its hold has run out, and ends the hold of whoever has the seat by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors, statements
from service.errors import Refused
from service.reservation import bodies, handover, holds, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="release-not-owner",
    mechanism="Cancels by the resource and not by the hold: once one's own has run out, the live hold of another ends.",
    section="holds",
    reports=("hoangdaochuz/booking#31", "hoangdaochuz/booking#43"),
    scenario="change_of_plans",
    caught_by=("only_the_owner_acts",),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: cancel
-- Ends the hold that is live on the resource; where several are, one's own before the newest.
UPDATE holds SET state = 'CANCELLED', revision = revision + 1, ended_at = :at
WHERE id = (SELECT id FROM holds WHERE resource_id = :resource AND state = 'ACTIVE' ORDER BY id = :hold DESC, id DESC LIMIT 1)
RETURNING *
""")
}
LATE: Final = (None, errors.HOLD_NOT_ACTIVE, errors.HOLD_EXPIRED)


def plant() -> None:
    """Let a cancellation that comes too late go on."""
    holds.cancel = cancel


async def cancel(connection: Any, action: Action) -> Answer:
    """End what is held of the resource, and hand its seats over; raises Refused."""
    seen = await holds.find(connection, tenant=action.tenant, hold=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    hold = await holds.SQL["look"].row(connection, hold=action.id, at=action.at)
    refusal = rules.hold_refusal(hold, action, policy_version=room["policy_version"])
    if refusal not in LATE:
        raise Refused(refusal)
    ended = await SQL["cancel"].row(connection, resource=room["id"], hold=action.id, at=hold["at"])
    if ended is None:
        raise Refused(errors.HOLD_NOT_ACTIVE)
    await handover.promote_or_release(connection, room, ended["quantity"], hold["at"])
    return Answer(200, bodies.encoded(bodies.Hold.of(ended)))
