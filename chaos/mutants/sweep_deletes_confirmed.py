"""The sweeper cleans up behind itself, and takes reservations that were paid for out of the database."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import expiry

MUTANT: Final = Mutant(
    name="sweep-deletes-confirmed",
    mechanism=(
        "Deletes the reservations of holds whose time is over, though they were confirmed in time, and frees their seats: "
        "every count is right, and no state ever moved."
    ),
    section="holds",
    reports=("buildrun-tech/system-design-interview-ticketmasters#3", "alfio-event/alf.io#1421"),
    scenario="change_of_plans",
    caught_by=("nothing_is_taken_away",),
)

DELETED: Final = """
), deleted AS (
    DELETE FROM reservations AS r USING holds AS paid
    WHERE paid.id = r.hold_id AND r.resource_id = $1 AND r.state = 'CONFIRMED' AND paid.expires_at <= $2
    RETURNING paid.id, r.quantity
), expired AS (
UPDATE holds AS h"""


def plant() -> None:
    """Let the sweep of a resource remove what was sold of it, and count that as seats that came free."""
    reword(expiry.SQL, "expire_holds", was="\n)\nUPDATE holds AS h", now=DELETED)
    reword(
        expiry.SQL,
        "expire_holds",
        was="RETURNING h.id, h.quantity",
        now="RETURNING h.id, h.quantity\n) SELECT id, quantity FROM expired UNION ALL SELECT id, quantity FROM deleted",
    )
