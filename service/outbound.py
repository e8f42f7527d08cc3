"""Requests to parties outside: one JSON POST, and one deadline for all of it."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httptools

_READ_BYTES: Final = 65_536
_ANSWER_BYTES_MAX: Final = 65_536
_PORTS: Final = {"http": 80, "https": 443}


class Unreachable(Exception):  # noqa: N818 - the other side's state, not a fault here
    """No answer was had; whether the request had its effect is unknown."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the other side answered."""

    status: int
    body: bytes


async def post(url: str, body: bytes, *, headers: dict[str, str], timeout_ms: int) -> Told:
    """POST JSON and return the answer; raises Unreachable where it was not had whole within `timeout_ms`.

    The deadline is for everything together, from the name's look-up on: one for each read would let an answer that
    comes byte by byte outlast every claim.
    """
    try:
        async with asyncio.timeout(timeout_ms / 1_000):
            return await _exchange(url, body, headers)
    except (OSError, TimeoutError, httptools.HttpParserError) as error:
        raise Unreachable(repr(error)) from error


async def _exchange(url: str, body: bytes, headers: dict[str, str]) -> Told:
    parts = urlsplit(url)
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or _PORTS[parts.scheme], ssl=secure
    )
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        fields = {
            "Host": parts.netloc.rpartition("@")[2],
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"POST {target} HTTP/1.1\r\n{head}\r\n".encode() + body)
        return await _answer(reader)
    finally:
        writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> Told:
    """Read one answer; raises ConnectionError where it ends early and OSError where it never ends."""
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    read = 0
    while not answer.whole:
        data = await reader.read(_READ_BYTES)
        if not data and not answer.until_closed:
            raise ConnectionResetError("the answer ended early")
        if not data:
            break
        read += len(data)
        if read > _ANSWER_BYTES_MAX:
            raise OSError("the answer is larger than a receipt may be")
        parser.feed_data(data)
    return Told(status=parser.get_status_code(), body=bytes(answer.body))


@dataclass(slots=True)
class _Answer:
    """What the parser has found so far."""

    whole: bool = False
    until_closed: bool = False  # an answer that tells no length ends with its connection
    body: bytearray = field(default_factory=bytearray)
    _bounded: bool = False

    def on_header(self, name: bytes, _: bytes) -> None:
        """Note whether the answer says where it ends."""
        self._bounded |= name.lower() in {b"content-length", b"transfer-encoding"}

    def on_headers_complete(self) -> None:
        """Know from here on how the answer ends."""
        self.until_closed = not self._bounded

    def on_body(self, data: bytes) -> None:
        """Keep what has come of the body."""
        self.body += data

    def on_message_complete(self) -> None:
        """End the reading."""
        self.whole = True
