"""As much HTTP/1.1 as a provider needs: it must be able to close without an answer, and to stop listening."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

READ_SECONDS = 10.0
HEAD_BYTES_MAX = 16_384
BODY_BYTES_MAX = 1_048_576


class Malformed(Exception):  # noqa: N818 - the client's doing
    """A request that cannot be read; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; names of headers are in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, its body JSON."""

    status: int
    body: Mapping[str, str]


class Listener:
    """Listens on one port of 127.0.0.1, or for a while does not; None from `treat` closes without an answer."""

    def __init__(self, host: str, port: int, treat: Callable[[Request], Awaitable[Reply | None]]) -> None:
        self.host = host
        self.port = port
        self._treat = treat
        self._server: asyncio.Server | None = None

    async def up(self) -> None:
        """Listen, on the same port as before. Raises OSError."""
        if self._server is None:
            self._server = await asyncio.start_server(
                self._serve, self.host, self.port, limit=HEAD_BYTES_MAX, reuse_address=True
            )
            self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """Stop listening: who connects is refused; what was accepted before is still treated."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            reply = await self._answer(reader)
            if reply is not None:
                writer.write(_bytes(reply))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # the client has gone, or never said anything
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader) -> Reply | None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                request = await _read(reader)
        except (Malformed, asyncio.LimitOverrunError) as error:
            return Reply(status=HTTPStatus.BAD_REQUEST, body={"result": "malformed", "message": str(error)})
        return await self._treat(request)


async def _read(reader: asyncio.StreamReader) -> Request:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
    try:
        method, path, _ = first.split(" ")
        pairs = [line.split(":", 1) for line in lines]
        headers = {name.strip().lower(): text.strip() for name, text in pairs}
        length = int(headers.get("content-length", "0"))
    except ValueError as error:
        raise Malformed(f"a request that cannot be read: {first!r}") from error
    if not 0 <= length <= BODY_BYTES_MAX:
        raise Malformed(f"a body of {length} bytes")
    return Request(method=method, path=path, headers=headers, body=await reader.readexactly(length))


def _bytes(reply: Reply) -> bytes:
    body = msgspec.json.encode(reply.body)
    head = (
        f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
