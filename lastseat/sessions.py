"""Open sessions with the lab's servers, kept from before they are broken: one question, asked once, awaited again and again."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncpg

from chaos.fault import Unwell
from lastseat.waiting import call_off

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

OPEN_SECONDS = 5.0
CLOSE_SECONDS = 5.0
"""A client that takes a cancellation for its own timeout may go on asking; nobody waits for that."""


@dataclass(slots=True)
class Session:
    """A session whose question is `ask`; `drop` ends it without waiting for the other side."""

    ask: Callable[[], Coroutine[Any, Any, str]]
    drop: Callable[[], None]
    _asked: asyncio.Task[str] | None = field(default=None, init=False)

    async def hear(self, within_seconds: float) -> str:
        """Ask, unless a question is still open, and say what came; empty when nothing did in that time."""
        if self._asked is None:
            self._asked = asyncio.create_task(self.ask())
        done, _ = await asyncio.wait({self._asked}, timeout=within_seconds)
        if not done:
            return ""
        asked, self._asked = self._asked, None
        try:
            return asked.result()
        except (OSError, EOFError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            return f"its end: {error!r}"

    async def close(self) -> None:
        """Drop it, answered or not."""
        self.drop()
        if self._asked is not None:
            await call_off({self._asked}, within_seconds=CLOSE_SECONDS)


async def on_the_wire(
    name: str,
    host: str,
    port: int,
    *,
    question: bytes,
    greeting: bytes = b"",
    read: Callable[[asyncio.StreamReader], Awaitable[str]],
) -> Session:
    """Open a TCP session; a greeting is answered before it counts as open. Raises Unwell."""
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            reader, writer = await asyncio.open_connection(host, port)
            if greeting:
                writer.write(greeting)
                await read(reader)
    except (OSError, EOFError, TimeoutError) as error:
        if writer is not None:
            writer.transport.abort()
        raise Unwell(f"{name} on {host}:{port} does not answer: {error!r}") from error
    opened = writer

    async def ask() -> str:
        opened.write(question)
        return await read(reader)

    return Session(ask, opened.transport.abort)


async def with_postgres(dsn: str) -> Session:
    """Open a session with PostgreSQL and have it answer once; one that does not is dropped. Raises Unwell."""
    async with contextlib.AsyncExitStack() as unanswered:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                connection = await asyncpg.connect(
                    dsn, server_settings={"application_name": "lastseat probe"}, command_timeout=None
                )
                unanswered.callback(connection.terminate)
                await connection.fetchval("SELECT 1")
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise Unwell(f"PostgreSQL does not answer: {error!r}") from error
        unanswered.pop_all()

    async def ask() -> str:
        return f"{await connection.fetchval('SELECT 1')}"

    def drop() -> None:
        with contextlib.suppress(asyncpg.InterfaceError):
            connection.terminate()

    return Session(ask, drop)


async def http_answer(reader: asyncio.StreamReader) -> str:
    """Read an HTTP answer to its end and return its status line; an answer without a length ends with the connection."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(
        (line.partition(":")[2] for line in head.split("\r\n") if line.startswith("content-length:")), None
    )
    await (reader.read() if length is None else reader.readexactly(int(length)))
    return head.partition("\r\n")[0]


async def redis_line(reader: asyncio.StreamReader) -> str:
    """Read a one-line answer of Redis."""
    return (await reader.readuntil(b"\r\n")).decode().strip()
