"""Looking at PostgreSQL again and again on a direct session, through crashes and pauses, until told to stop."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg
import msgspec

from checker import session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long one look may take, and how long to leave a lost server alone between attempts to reach it."""

    look_seconds: float = 2.0
    retry_seconds: float = 0.2
    close_seconds: float = 5.0


class Watch:
    """Calls `look` at a steady pace with a live session, or with None while the server is away.

    `looks` counts the calls with a session; `losses` counts how often the server went away.
    """

    def __init__(
        self,
        dsn: str,
        look: Callable[[asyncpg.Connection | None], Awaitable[None]],
        *,
        purpose: str,
        every_seconds: float,
        patience: Patience,
    ) -> None:
        self.looks = 0
        self.losses = 0
        self._dsn = dsn
        self._look = look
        self._purpose = purpose
        self._every_seconds = every_seconds
        self._patience = patience
        self._connection: asyncpg.Connection | None = None
        self._retry_at = 0.0
        self._stop = asyncio.Event()

    async def start(self) -> None:
        """Connect and look once; raises what connecting raises, since a run must not begin without its watch."""
        self._connection = await session.connect(self._dsn, purpose=self._purpose)
        await self.look_once()

    async def keep_looking(self) -> None:
        """Look until told to stop; a look that came late is not made up for."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while not self._stop.is_set():
            due = max(due + self._every_seconds, loop.time())
            await session.pause(self._stop, due - loop.time())
            await self.look_once()

    async def look_once(self) -> None:
        """Look with the session there is; a failure loses it, and a later look opens another."""
        await self._restore()
        try:
            async with asyncio.timeout(self._patience.look_seconds):
                await self._look(self._connection)
        except (*session.GONE, asyncpg.PostgresError):
            self._lose()
        else:
            self.looks += self._connection is not None

    def stop(self) -> None:
        """Let keep_looking end after the look it is in."""
        self._stop.set()

    def let_go(self) -> None:
        """Drop the session at once: a paused server would not answer a farewell."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _restore(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._connection is not None or now < self._retry_at:
            return
        self._retry_at = now + self._patience.retry_seconds
        try:
            async with asyncio.timeout(self._patience.look_seconds):
                self._connection = await session.connect(self._dsn, purpose=self._purpose)
        except (*session.GONE, asyncpg.PostgresError):
            return

    def _lose(self) -> None:
        self.let_go()
        self.losses += 1


@asynccontextmanager
async def watching(
    dsn: str,
    look: Callable[[asyncpg.Connection | None], Awaitable[None]],
    *,
    purpose: str,
    every_seconds: float,
    patience: Patience | None = None,
) -> AsyncIterator[Watch]:
    """Watch while the block runs; the first look is done before it starts, the last after it ends."""
    patience = patience or Patience()
    watch = Watch(dsn, look, purpose=purpose, every_seconds=every_seconds, patience=patience)
    await watch.start()
    task = asyncio.create_task(watch.keep_looking(), name=f"lastseat {purpose}")
    try:
        yield watch
    finally:
        watch.stop()
        done, _ = await asyncio.wait({task}, timeout=patience.close_seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=patience.close_seconds)
        try:
            await watch.look_once()
        finally:
            watch.let_go()
    if not task.cancelled():
        task.result()
