"""Waiting in a test until something holds, with a deadline that names what did not come."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING

from checker.session import attempts

if TYPE_CHECKING:
    from collections.abc import Callable


async def until(holds: Callable[[], object], what: str, *, within_seconds: float = 10.0) -> None:
    """Wait for a condition, which may be asked of a server."""
    try:
        async with asyncio.timeout(within_seconds):
            async for _ in attempts(every_seconds=0.01):
                held = holds()
                if await held if isawaitable(held) else held:
                    return
    except TimeoutError:
        raise AssertionError(f"{what} did not happen within {within_seconds:g} s") from None
