"""Runs a coroutine so that Ctrl-C, a terminal that closes and `kill` all end it in order."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

Answer = TypeVar("Answer")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run `work`; at a signal it is cancelled, heals and ends what it started, and KeyboardInterrupt is raised."""
    return asyncio.run(_watched(work))


async def _watched(work: Coroutine[Any, Any, Answer]) -> Answer:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    asked = False

    def end() -> None:
        nonlocal asked
        if not asked:  # a second Ctrl-C must not interrupt the healing; the supervisor bounds it
            asked = True
            task.cancel()

    for number in ENDING:
        loop.add_signal_handler(number, end)
    try:
        return await task
    except asyncio.CancelledError:
        if asked:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number in ENDING:
            loop.remove_signal_handler(number)
