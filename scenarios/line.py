"""What everybody does who stands in line: join, and look now and then whether a seat is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

LOOKS_MAX = 15
LOOK_SECONDS = 0.08
OPERATIONS_MAX = 1 + LOOKS_MAX
"""Operations of one stay in line: to join, and to look."""


def join(buyer: Buyer) -> int | None:
    """Join the line and return the entry; None where there is no place in it."""
    joined = buyer.act("join_waitlist")
    return int(joined.created) if joined.outcome is Outcome.OK and joined.created is not None else None


def await_offer(buyer: Buyer, entry: int) -> int | None:
    """Look at an entry until an offer has come of it, and return the offer; None once patience is over."""
    for look in range(LOOKS_MAX):
        buyer.pause(LOOK_SECONDS * (0.5 + buyer.chance(f"look {look}")))
        seen = buyer.act("read_entry", entry=entry)
        if seen.outcome is Outcome.OK and seen.created is not None:
            return int(seen.created)
    return None


def offered(buyer: Buyer, answer: Answer) -> int | None:
    """Stand in line where a seat was refused, and return the offer that came of it; None without one."""
    entry = join(buyer) if answer.outcome is Outcome.FAIL else None
    return await_offer(buyer, entry) if entry is not None else None
