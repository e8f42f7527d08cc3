"""A hand-over that does nothing, for the planted bugs that end a claim and keep its seats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from datetime import datetime
    from types import ModuleType

NEVER_RELEASED: Final = (
    "Attendize/Attendize#1000",
    "eventespresso/event-espresso-core#3324",
    "HiEventsDev/Hi.Events#466",
    "fossasia/open-event-frontend#1851",
    "verbb/events#228",
)
"""The public reports of seats that nobody gave back, whichever way their claim ended."""


class Forgetful:
    """The hand-over as one module of the service sees it: there is nothing to hand over."""

    @staticmethod
    async def promote_or_release(_connection: Any, _room: Any, _seats: int, _at: datetime) -> int:
        """Return that nobody waited."""
        return 0


def hand_nothing_over(module: ModuleType) -> None:
    """Take the hand-over away from one module of the service, and from no other."""
    vars(module)["handover"] = Forgetful
