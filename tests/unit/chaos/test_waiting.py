"""Waiting ends when its time is up or it is cancelled, whatever becomes of the one cancellation."""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Any

import pytest

from chaos.fault import NotSeen
from chaos.waiting import sought

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def deaf_once() -> Callable[[], Coroutine[Any, Any, str]]:
    """Make a look that swallows its first cancellation, as `asyncio.wait_for` of Python 3.11 may."""
    cancelled: list[asyncio.CancelledError] = []

    async def look() -> str:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError as order:
            cancelled.append(order)
            if len(cancelled) > 1:
                raise
        raise NotSeen("nothing is there")

    return look


async def ended(seeking: asyncio.Task[str]) -> asyncio.Task[str]:
    await asyncio.wait({seeking}, timeout=5)
    assert seeking.done()
    return seeking


async def test_what_is_seen_is_returned_at_last() -> None:
    looks = iter([NotSeen("not yet"), OSError("nobody there")])

    async def look() -> str:
        for answer in looks:
            raise answer
        return "there"

    assert await sought(look, within_seconds=5) == "there"


async def test_the_last_look_is_told_when_the_time_is_up() -> None:
    async def look() -> str:
        raise NotSeen("not yet")

    with pytest.raises(NotSeen, match="not yet"):
        await sought(look, within_seconds=0.05)


async def test_a_look_that_never_ends_is_given_up() -> None:
    async def look() -> str:
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(NotSeen, match="no time was left to look"):
        await sought(look, within_seconds=0.05)


async def test_a_look_that_swallows_the_end_of_its_time_is_the_last() -> None:
    seeking = await ended(asyncio.create_task(sought(deaf_once(), within_seconds=0.02)))
    with pytest.raises(NotSeen, match="nothing is there"):
        await seeking


async def test_a_look_that_swallows_a_cancellation_is_the_last() -> None:
    seeking = asyncio.create_task(sought(deaf_once(), within_seconds=inf))
    await asyncio.sleep(0)  # so that it looks
    seeking.cancel()
    assert (await ended(seeking)).cancelled()


async def test_who_waited_too_long_is_not_cancelled_by_that() -> None:
    with pytest.raises(NotSeen):
        await sought(deaf_once(), within_seconds=0.02)
    task = asyncio.current_task()
    assert task
    assert task.cancelling() == 0
