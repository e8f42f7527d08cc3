"""One client's connection through a proxy: two links, each a chain of toxics in one direction."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import TYPE_CHECKING

from chaos.standin.stage import Chunk, Stage
from chaos.standin.toxics import ResetPeer, Timeout, Toxic

if TYPE_CHECKING:
    from collections.abc import Sequence

_READ_BYTES = 32 * 1024
_UNDER_WAY_BYTES_MAX = 1024 * 1024  # per direction of a connection; past it the proxy stops reading


class Link:
    """One direction: reads a source, passes every chunk through the toxics, writes and at the end closes a sink."""

    def __init__(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, toxics: Sequence[Toxic]
    ) -> None:
        self._source = source
        self._sink = sink
        self._exit: asyncio.Queue[Chunk] = asyncio.Queue()
        self._under_way_bytes = 0
        self._room = asyncio.Event()
        self._room.set()
        self._stages: list[Stage] = []
        for toxic in toxics:
            self._append(toxic)

    async def run(self) -> None:
        """Carry bytes until the sink has been closed."""
        reading = asyncio.create_task(self._read())
        try:
            await self._write()
        finally:
            reading.cancel()
            for stage in self._stages:
                await stage.interrupt()
            self._sink.close()

    async def add(self, toxic: Toxic) -> None:
        """Put a toxic at the end of the chain; the one before it draws its toxicity again."""
        before = self._stages[-1] if self._stages else None
        if before is not None:
            await before.interrupt()
        self._append(toxic)
        if before is not None:
            before.start()

    async def update(self, toxic: Toxic) -> None:
        """Let a changed toxic start again."""
        for stage in self._stages:
            if stage.toxic is toxic:
                await stage.interrupt()
                stage.start()

    async def remove(self, toxic: Toxic) -> None:
        """Take a toxic out; nothing it held is lost, except that a timeout closes what it touched."""
        stage = next((stage for stage in self._stages if stage.toxic is toxic), None)
        if stage is None:
            return
        if isinstance(toxic.attributes, Timeout):
            stage.close()
        await stage.interrupt()
        if stage.closed:
            return
        before = self._stages[self._stages.index(stage) - 1] if stage is not self._stages[0] else None
        if before is not None:
            await before.interrupt()
            before.outbox = stage.outbox
        stage.empty_into_outbox()
        self._stages.remove(stage)
        if before is not None:
            before.start()

    def _append(self, toxic: Toxic) -> None:
        stage = Stage(toxic, self._exit, self._release)
        if self._stages:
            self._stages[-1].outbox = stage.inbox
        self._stages.append(stage)
        stage.start()

    def _release(self, size_bytes: int) -> None:
        self._under_way_bytes -= size_bytes
        if self._under_way_bytes < _UNDER_WAY_BYTES_MAX:
            self._room.set()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        data = b"-"
        while data:
            await self._room.wait()
            try:
                data = await self._source.read(_READ_BYTES)
            except OSError:  # the peer reset the connection: an end like any other
                data = b""
            self._under_way_bytes += len(data)
            if self._under_way_bytes >= _UNDER_WAY_BYTES_MAX:
                self._room.clear()
            entrance = self._stages[0].inbox if self._stages else self._exit
            entrance.put_nowait(Chunk(data, loop.time()))

    async def _write(self) -> None:
        with contextlib.suppress(OSError):
            while data := (await self._exit.get()).data:
                self._sink.write(data)
                await self._sink.drain()
                self._release(len(data))


class Connection:
    """A client, an upstream, and the two links between them."""

    def __init__(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        toxics: Sequence[Toxic],
    ) -> None:
        self._writers = (client[1], upstream[1])
        if any(isinstance(toxic.attributes, ResetPeer) for toxic in toxics):
            self._close_by_reset()
        self.links = {
            "upstream": Link(client[0], upstream[1], [each for each in toxics if each.stream == "upstream"]),
            "downstream": Link(
                upstream[0], client[1], [each for each in toxics if each.stream == "downstream"]
            ),
        }

    async def run(self) -> None:
        """Carry bytes both ways until both directions have ended."""
        await asyncio.gather(*(link.run() for link in self.links.values()))

    def abort(self) -> None:
        """Close both sockets now; what is under way is lost."""
        for writer in self._writers:
            writer.transport.abort()

    def _close_by_reset(self) -> None:
        linger_none = struct.pack("ii", 1, 0)
        for writer in self._writers:
            peer: socket.socket = writer.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_none)
