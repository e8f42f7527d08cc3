"""A process that is still coming up when nobody wants it any more is ended by whoever started it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from lastseat.nodes import brought_up

if TYPE_CHECKING:
    from lastseat.children import Child


class Coming:
    """As much of a child as may be ended."""

    killed = 0

    async def kill(self) -> int:
        self.killed += 1
        return -9


async def test_a_process_whose_start_is_broken_off_is_ended() -> None:
    child, asked = Coming(), asyncio.Event()

    async def never() -> None:
        asked.set()
        await asyncio.Event().wait()

    starting = asyncio.create_task(brought_up(cast("Child", child), never()))
    await asked.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert child.killed == 1


async def test_one_that_came_up_is_left_alone() -> None:
    child = Coming()
    await brought_up(cast("Child", child), asyncio.sleep(0))
    assert child.killed == 0
