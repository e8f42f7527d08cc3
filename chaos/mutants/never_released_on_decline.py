"""An offer that is declined is over, and its seat stays taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import offers

if TYPE_CHECKING:
    from datetime import datetime

MUTANT: Final = Mutant(
    name="never-released-on-decline",
    mechanism="Ends an offer that is declined, and leaves its seat in the count: nobody is offered it, and nobody can take it.",
    section="holds",
    reports=(
        "Attendize/Attendize#1000",
        "eventespresso/event-espresso-core#3324",
        "HiEventsDev/Hi.Events#466",
        "fossasia/open-event-frontend#1851",
        "verbb/events#228",
    ),
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims",),
)


def plant() -> None:
    """Take the hand-over out of the declining of an offer."""
    vars(offers)["handover"] = Forgetful


class Forgetful:
    """The hand-over as offers sees it: there is nothing to hand over."""

    @staticmethod
    async def promote_or_release(_connection: Any, _room: Any, _seats: int, _at: datetime) -> int:
        """Return that nobody waited."""
        return 0
