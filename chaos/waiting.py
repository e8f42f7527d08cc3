"""Waiting: for all of several, for something to be seen, for an instant; nothing is left running behind."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING, Any, TypeVar

from chaos.fault import NotSeen, Unwell
from chaos.parts import PartError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Result = TypeVar("Result")

_AGAIN_SECONDS = 0.02


async def together(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """Do all at once and wait for every one, also when one fails or all are cancelled; then raise the first failure.

    A plain gather returns at the first failure or cancelled child, and what the others still do lands after the healing.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    done: list[Result] = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        done.append(result)
    return done


async def sought(look: Callable[[], Coroutine[Any, Any, str]], *, within_seconds: float) -> str:
    """Look again and again until it is seen; raises what the last look raised when the time is up.

    A look may swallow the one cancellation that ends it, as `asyncio.wait_for` of Python 3.11 does where its answer comes
    at that very moment, so both ends are asked for after each look.
    """
    last: Exception = NotSeen("no time was left to look")
    looking = asyncio.current_task()
    assert looking is not None  # noqa: S101 - a coroutine that runs is run by a task
    cancelled_before = looking.cancelling()
    try:
        async with asyncio.timeout(None if math.isinf(within_seconds) else within_seconds) as limit:
            while not limit.expired():
                try:
                    return await look()
                except (NotSeen, Unwell, PartError, OSError) as answer:
                    last = answer
                if looking.cancelling() > cancelled_before and not limit.expired():
                    raise asyncio.CancelledError
                await asyncio.sleep(0 if limit.expired() else _AGAIN_SECONDS)
    except TimeoutError:
        pass
    raise last


async def sleep_until(instant_ns: int) -> None:
    """Sleep until an instant of CLOCK_MONOTONIC, in ns."""
    await asyncio.sleep(max(0.0, (instant_ns - time.monotonic_ns()) / 1e9))
