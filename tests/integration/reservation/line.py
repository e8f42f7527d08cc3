"""A line to PostgreSQL that lets a test decide what becomes of a command on its way there or back."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    Fate = Literal["cut before", "cut after", "lost", "answer held"]

BYTES_AT_ONCE: Final = 65_536


@dataclass(slots=True)
class Line:
    """From a client's bytes that hold `cue` on, once, its connection meets its fate.

    `cut before`: it ends with these bytes not sent. `cut after`: they arrive, and it ends with the server's answer.
    `lost`: it stays, and nothing that the client says arrives. `answer held`: what the server says waits for `passes`.
    """

    dsn: str
    cue: bytes | None = None
    fate: Fate = "cut after"
    passes: asyncio.Event = field(default_factory=asyncio.Event)
    met: asyncio.Event = field(default_factory=asyncio.Event)
    through: str = ""

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        to, met = urlsplit(self.dsn), asyncio.Event()
        far_reader, far_writer = await asyncio.open_connection(to.hostname, to.port)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._there(reader, far_writer, met))
                ways.create_task(self._back(far_reader, writer, met))
        finally:
            writer.close()
            far_writer.close()

    async def _there(self, near: asyncio.StreamReader, far: asyncio.StreamWriter, met: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while data := await near.read(BYTES_AT_ONCE):
                if self.cue is not None and self.cue in data:
                    self.cue = None
                    met.set()
                    self.met.set()
                if met.is_set() and self.fate == "cut before":
                    break
                if not (met.is_set() and self.fate == "lost"):
                    far.write(data)
        far.close()

    async def _back(self, far: asyncio.StreamReader, near: asyncio.StreamWriter, met: asyncio.Event) -> None:
        with suppress(ConnectionError):
            while data := await far.read(BYTES_AT_ONCE):
                if met.is_set() and self.fate == "cut after":
                    break
                if met.is_set() and self.fate == "answer held":
                    await self.passes.wait()
                near.write(data)
        near.close()


@asynccontextmanager
async def laid(dsn: str) -> AsyncIterator[Line]:
    """Lay a line to this database, on a free port of the loopback address, while the block runs."""
    made = Line(dsn)
    server = await asyncio.start_server(made.carry, "127.0.0.1", 0)
    parts, port = urlsplit(dsn), server.sockets[0].getsockname()[1]
    made.through = dsn.replace(f"@{parts.hostname}:{parts.port}/", f"@127.0.0.1:{port}/")
    try:
        yield made
    finally:
        made.passes.set()
        server.close()
