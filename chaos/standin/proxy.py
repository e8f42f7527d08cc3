"""A proxy: one listening address, one upstream, and the toxics on what passes between them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

from chaos.standin.connection import Connection

if TYPE_CHECKING:
    from chaos.standin.toxics import Toxic

_DIAL_SECONDS = 10.0


class AddressError(Exception):
    """A listening address cannot be parsed or bound; the text says why."""


class Proxy:
    """Forwards connections while enabled; the toxics outlive being disabled."""

    def __init__(self, name: str, listen: str, upstream: str) -> None:
        self.name = name
        self.listen = listen
        self.upstream = upstream
        self.enabled = False
        self.toxics: list[Toxic] = []
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._change = asyncio.Lock()

    async def start(self) -> None:
        """Listen; the bound address replaces the wished one. Raises AddressError."""
        async with self._change:
            await self._start()

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        async with self._change:
            self._stop()

    async def update(self, *, listen: str, upstream: str, enabled: bool) -> None:
        """Move or switch the proxy; another address closes its connections. Raises AddressError."""
        async with self._change:
            if await self.differs(listen, upstream):
                self._stop()
                self.listen, self.upstream = listen, upstream
            if enabled and not self.enabled:
                await self._start()
            elif not enabled:
                self._stop()

    async def differs(self, listen: str, upstream: str) -> bool:
        """Whether the proxy listens or leads elsewhere. Raises AddressError."""
        host, port = await _resolve(listen)
        return self.listen != _spell(host, port) or self.upstream != upstream

    async def add(self, toxic: Toxic) -> None:
        """Put a toxic on new and on open connections."""
        async with self._change:
            self.toxics.append(toxic)
            for connection in list(self._connections):
                await connection.links[toxic.stream].add(toxic)

    async def update_toxic(self, toxic: Toxic) -> None:
        """Let open connections notice changed attributes."""
        async with self._change:
            for connection in list(self._connections):
                await connection.links[toxic.stream].update(toxic)

    async def remove(self, toxic: Toxic) -> None:
        """Take a toxic off new and open connections."""
        async with self._change:
            self.toxics.remove(toxic)
            for connection in list(self._connections):
                await connection.links[toxic.stream].remove(toxic)

    async def _start(self) -> None:
        if self.enabled:
            return
        host, port = await _resolve(self.listen)
        try:
            self._server = await asyncio.start_server(self._serve, host, port)
        except OSError as error:
            raise AddressError(f"listen tcp {self.listen}: bind: {error.strerror}") from error
        bound = self._server.sockets[0].getsockname()
        self.listen = _spell(bound[0], bound[1])
        self.enabled = True

    def _stop(self) -> None:
        self.enabled = False
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.upstream.rpartition(":")
        try:
            async with asyncio.timeout(_DIAL_SECONDS):
                upstream = await asyncio.open_connection(host.strip("[]"), int(port))
        except (OSError, ValueError):  # a dead upstream: the client, already connected, gets EOF
            writer.close()
            return
        connection = Connection((reader, writer), upstream, self.toxics)
        self._connections.add(connection)
        if not self.enabled:  # disabled while the upstream was dialled
            connection.abort()
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)


async def _resolve(listen: str) -> tuple[str, int]:
    """Resolve a listening address, IPv4 first; none at all means any port on every interface."""
    host, colon, port = (listen or ":0").rpartition(":")
    if not colon:
        raise AddressError(f"address {listen}: missing port in address")
    with contextlib.suppress(OSError, ValueError, OverflowError):
        found = await asyncio.get_running_loop().getaddrinfo(
            host.strip("[]") or "0.0.0.0",  # noqa: S104 - as asked for
            int(port),
            type=socket.SOCK_STREAM,
        )
        address = min(found, key=lambda entry: entry[0] != socket.AF_INET)[4]
        return str(address[0]), int(address[1])
    raise AddressError(f"address {listen}: unknown host or port")


def _spell(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
