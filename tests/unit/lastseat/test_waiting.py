"""Two things at once: both answers, or the error of the one and an end of the other."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from lastseat.errors import LabError
from lastseat.waiting import both

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

AWAY = LabError("it is away", where="here", remedy="bring it back")


async def test_both_answers_come_back_in_their_order_whichever_was_there_first() -> None:
    later = asyncio.Event()

    async def slow() -> str:
        await later.wait()
        return "slow"

    async def quick() -> str:
        later.set()
        return "quick"

    assert await both(slow(), quick()) == ("slow", "quick")


async def test_the_error_of_one_is_raised_as_it_is_and_the_other_is_broken_off() -> None:
    broken_off = asyncio.Event()

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            broken_off.set()

    async def failing() -> None:
        raise AWAY

    with pytest.raises(LabError, match="it is away"):
        await both(endless(), failing())
    assert broken_off.is_set()


async def test_what_was_entered_before_the_other_failed_is_left_again() -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def opened() -> AsyncIterator[None]:
        entered.set()
        try:
            yield
        finally:
            left.set()

    async def failing() -> None:
        await entered.wait()
        raise AWAY

    with pytest.raises(LabError, match="it is away"):
        async with AsyncExitStack() as leaving:
            await both(leaving.enter_async_context(opened()), failing())
    assert left.is_set()
