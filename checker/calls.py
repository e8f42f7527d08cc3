"""The calls on one counter, as the clients saw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["take", "give", "refused"]


@dataclass(frozen=True, slots=True)
class Call:
    """One operation on the counter: instants in ns; `done_ns` None where nobody was ever told of it."""

    op: int
    kind: Kind
    sent_ns: int
    done_ns: int | None


Moment = tuple[int, bool, int, Call]
"""An instant, whether it is an answer, the operation's number, and the call."""


def moments(calls: Iterable[Call]) -> list[Moment]:
    """Return questions and answers in the order of time; of one instant the question comes first, as if they overlapped."""
    found: list[Moment] = []
    for call in calls:
        found.append((call.sent_ns, False, call.op, call))
        if call.done_ns is not None:
            found.append((call.done_ns, True, call.op, call))
    return sorted(found, key=lambda moment: moment[:3])
