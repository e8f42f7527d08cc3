"""The line is ordered by the day of joining: whoever joined today is served in any order."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import waitlist

MUTANT: Final = Mutant(
    name="coarse-order",
    mechanism="Orders the line by the day of joining, and those of one day by something that says nothing about time.",
    section="waitlist",
    reports=("CodingPirates/forenings_medlemmer#171", "webkom/lego#3227"),
    scenario="newcomer_flood",
    caught_by=("fifo_handover",),
)


def plant() -> None:
    """Order the line by day."""
    reword(
        waitlist.SQL,
        "promote",
        was="ORDER BY seq LIMIT",
        now="ORDER BY created_at::date, owner_digest LIMIT",
    )
