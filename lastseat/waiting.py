"""Waiting for a condition: always with a deadline, and with words for when it passes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine
    from typing import Any

    from lastseat.errors import LabError

Answer = TypeVar("Answer")
First = TypeVar("First")
Second = TypeVar("Second")


async def call_off(tasks: Collection[asyncio.Task[Any]], *, within_seconds: float) -> None:
    """Cancel tasks and wait for their end, but no longer: one may take the cancellation for a timeout of its own, and go on.

    What they raise is not told any more.
    """
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=within_seconds)
    for task in tasks:
        if task.done() and not task.cancelled():
            task.exception()  # read, so that it is not reported as lost


async def until(
    probe: Callable[[], Awaitable[Answer | None]],
    *,
    within_seconds: float,
    failing: Callable[[str], LabError],
    every_seconds: float = 0.02,
) -> Answer:
    """Ask `probe` again and again until it answers something other than None.

    An OSError or TimeoutError of the probe counts as "not yet". When the time is up, `failing` makes the error out of
    the last such problem's text.
    """
    deadline = time.monotonic() + within_seconds
    problem = "no answer"
    while (left := deadline - time.monotonic()) > 0:
        try:
            answer = await asyncio.wait_for(probe(), left)
        except (OSError, TimeoutError) as error:
            problem = str(error) or type(error).__name__
        else:
            if answer is not None:
                return answer
        await asyncio.sleep(every_seconds)
    raise failing(problem)


async def both(
    first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]
) -> tuple[First, Second]:
    """Wait for two things at once; where one fails, the other is broken off, and its error is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            one, two = group.create_task(first), group.create_task(second)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return one.result(), two.result()
