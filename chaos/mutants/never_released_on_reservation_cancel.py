"""A reservation that is given back is over, and its seat stays taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import reservations

if TYPE_CHECKING:
    from datetime import datetime

MUTANT: Final = Mutant(
    name="never-released-on-reservation-cancel",
    mechanism="Ends a reservation that is cancelled, and leaves its seats in the count: nobody is offered them, and nobody can take them.",
    section="holds",
    reports=(
        "Attendize/Attendize#1000",
        "eventespresso/event-espresso-core#3324",
        "HiEventsDev/Hi.Events#466",
        "fossasia/open-event-frontend#1851",
        "verbb/events#228",
    ),
    scenario="newcomer_flood",
    caught_by=("occupancy_matches_claims", "nothing_left_behind"),
)


def plant() -> None:
    """Take the hand-over out of the cancelling of a reservation."""
    vars(reservations)["handover"] = Forgetful


class Forgetful:
    """The hand-over as reservations sees it: there is nothing to hand over."""

    @staticmethod
    async def promote_or_release(_connection: Any, _room: Any, _seats: int, _at: datetime) -> int:
        """Return that nobody waited."""
        return 0
