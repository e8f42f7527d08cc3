"""How long a command may still take: one deadline for all of its waits, set once its request is there.

Each wait has a bound of its own and takes what is left of the deadline where that is less; without it they add up to
more than any client waits for. A share at its end is kept for telling the client so and giving up what was claimed. No
deadline ever cuts off a COMMIT, or a statement that commits by itself and may be a command's effect.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterable

_LAST_SHARE: Final = 0.1  # of the whole, for what comes after the work
_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
_OUTLASTING: Final[set[asyncio.Task[None]]] = set()


class TooLate(Exception):  # noqa: N818 - what became of a wait, not an error
    """The command's time was over before it had its way."""


@dataclass(frozen=True, slots=True, order=True)
class Deadline:
    """Until when a command works, is cut off and is answered, in seconds of the event loop's clock."""

    work_until: float
    cut_at: float  # the server was given until `work_until`; a little later it is not listened to any more
    answer_by: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """Return the deadline of a command that may take so long from now on."""
        end, last = asyncio.get_running_loop().time() + seconds, seconds * _LAST_SHARE
        return cls(work_until=end - last, cut_at=end - last / 2, answer_by=end)


def current() -> Deadline | None:
    """Return this task's deadline; workers have none."""
    return _CURRENT.get()


def start(seconds: float) -> None:
    """Give this task `seconds` from now on."""
    _CURRENT.set(Deadline.after(seconds))


def share(of_several: Iterable[Deadline | None]) -> None:
    """Give this task, which works for several, the earliest of their deadlines."""
    _CURRENT.set(min((each for each in of_several if each is not None), default=None))


def work_seconds_left(own: float = math.inf) -> float:
    """Return how long to wait at most for what is still to be done: `own`, or what is left; below zero if too late."""
    if (deadline := _CURRENT.get()) is None:
        return own
    return min(own, deadline.work_until - asyncio.get_running_loop().time())


def answer_seconds_left(own: float = math.inf) -> float:
    """Return how long to wait at most before the answer leaves, when the work has ended either way."""
    if (deadline := _CURRENT.get()) is None:
        return own
    return min(own, deadline.answer_by - asyncio.get_running_loop().time())


@asynccontextmanager
async def cut() -> AsyncIterator[None]:
    """Cut off what certainly leaves no effect of the command; raises TooLate."""
    if (deadline := _CURRENT.get()) is None:
        yield
        return
    clock = asyncio.timeout_at(deadline.cut_at)
    try:
        async with clock:
            yield
    except TimeoutError as error:
        if clock.expired():
            raise TooLate from error
        raise


async def see_to(work: Coroutine[object, object, None]) -> None:
    """Do what must be done however late it is: wait for it while there is time to answer, and let it go on after that."""
    if _CURRENT.get() is None:
        await work
        return
    timeless = copy_context()
    timeless.run(_CURRENT.set, None)
    task = asyncio.create_task(work, context=timeless)
    _OUTLASTING.add(task)
    task.add_done_callback(_OUTLASTING.discard)
    await asyncio.wait([task], timeout=max(0.0, answer_seconds_left()))
    if task.done():
        task.result()
