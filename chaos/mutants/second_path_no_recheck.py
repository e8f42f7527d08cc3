"""What is pending takes no seat, and what is approved asks for none: both pendings for the last seat are confirmed."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over, _schema, reword
from service.reservation import holds

MUTANT: Final = Mutant(
    name="second-path-no-recheck",
    mechanism="Looks for a free seat only when a hold is asked for, counts it only when it is confirmed, and does not "
    "look again then.",
    section="capacity",
    reports=("calcom/cal.diy#10789", "wielebenwir/CommonsBooking_1#92", "SergeyMosin/Appointments#689"),
    scenario="hot_row_stampede",
    caught_by=("never_oversold", "occupancy_matches_claims"),
    racy=True,
    schema=(_schema.NO_CAPACITY_CHECK,),
)


def plant() -> None:
    """Let holds take nothing from the count, confirming add to it, and cancelling give nothing back."""
    reword(holds.SQL, "take", was="SET occupied_count = r.occupied_count + $7, revision", now="SET revision")
    reword(
        holds.SQL,
        "confirm",
        was="RETURNING *\n)",
        now="""RETURNING *
), counted AS (
    UPDATE resources AS r SET occupied_count = r.occupied_count + ended.quantity FROM ended WHERE r.id = ended.resource_id
)""",
    )
    # Nothing was counted, so that nothing is given back.
    _hand_over.hand_nothing_over(holds)
