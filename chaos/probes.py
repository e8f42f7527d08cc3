"""Probes: short conversations through a link that any server behind it must answer, each with a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from chaos.network import Link, Stream

Ending = Literal["answered", "silent", "ended", "reset", "refused"]

_PG_SSL_REQUEST = struct.pack("!ii", 8, 80877103)
_PG_CANCEL_NOBODY = struct.pack("!iiii", 16, 80877102, 0, 0)  # closed at once, whoever asks
_PG_VERSION = 196608
_PG_STARTUP_BYTES_MAX = 9_000  # the server refuses more than 10,000
_HTTP_ANSWER_BYTES_MIN = 40
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Bytes to send, and how many bytes of answer suffice; None reads to the end of the connection."""

    request: bytes
    enough_bytes: int | None = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a probe saw: how the conversation ended, after how many seconds, bytes and reads."""

    ending: Ending
    seconds: float
    received_bytes: int = 0
    reads: int = 0

    def __str__(self) -> str:
        """Say it in a few words, for a fault's proof."""
        return f"{self.ending} after {self.seconds * 1000:.1f} ms with {self.received_bytes} bytes"


@dataclass(frozen=True, slots=True)
class Speech:
    """How to talk to one kind of server."""

    name: str
    short: Question
    parting: Question

    def bulk(self, size_bytes: int, stream: Stream) -> Question:
        """Ask so that at least `size_bytes` pass in one direction, or as many as the protocol allows."""
        if self.name == "http":
            return _http_bulk(size_bytes, stream)
        if self.name == "redis":
            return _redis_bulk(size_bytes, stream)
        return _pg_bulk(min(size_bytes, _PG_STARTUP_BYTES_MAX))


_GET = b"GET /health/live HTTP/1.1\r\nHost: probe\r\n"

HTTP = Speech(
    "http",
    short=Question(request=_GET + b"\r\n"),
    parting=Question(request=_GET + b"Connection: close\r\n\r\n", enough_bytes=None),
)
_PING = b"PING\r\n"
_PONG = b"+PONG\r\n"  # "-NOAUTH …" is longer

REDIS = Speech(
    "redis",
    short=Question(request=_PING),
    parting=Question(request=b"QUIT\r\n", enough_bytes=None),
)
POSTGRESQL = Speech(
    "postgresql",
    short=Question(request=_PG_SSL_REQUEST),
    parting=Question(request=_PG_CANCEL_NOBODY, enough_bytes=None),
)

_SPEECHES = {"pg": POSTGRESQL, "redis": REDIS, "edge": HTTP, "payment": HTTP, "notification": HTTP}


def speech_behind(link_name: str) -> Speech:
    """Tell from a link's name, such as `pg-a`, what the server behind it speaks. Raises ValueError."""
    try:
        return _SPEECHES[link_name.partition("-")[0]]
    except KeyError:
        known = ", ".join(_SPEECHES)
        raise ValueError(
            f"nothing is known of what speaks behind link {link_name!r}: its name must begin with {known}"
        ) from None


async def ask(link: Link, question: Question, *, within_seconds: float) -> Sight:
    """Ask through a link; see `ask_at`."""
    return await ask_at(link.host, link.port, question, within_seconds=within_seconds)


async def ask_at(host: str, port: int, question: Question, *, within_seconds: float) -> Sight:
    """Connect, send, and read until enough came, the connection ended, or the time was up."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    seen: list[int] = []
    ending: Ending = "silent"
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(within_seconds):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(question.request)
            ending = await _read(reader, question.enough_bytes, seen)
    except TimeoutError:
        ending = "silent"
    except ConnectionRefusedError:
        ending = "refused"
    except (ConnectionResetError, BrokenPipeError):
        ending = "reset"
    finally:
        seconds = loop.time() - started
        if writer is not None:
            writer.transport.abort()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
    return Sight(ending=ending, seconds=seconds, received_bytes=sum(seen), reads=len(seen))


async def _read(reader: asyncio.StreamReader, enough_bytes: int | None, seen: list[int]) -> Ending:
    while data := await reader.read(_READ_BYTES):
        seen.append(len(data))
        if enough_bytes is not None and sum(seen) >= enough_bytes:
            return "answered"
    return "ended"


def _http_bulk(size_bytes: int, stream: Stream) -> Question:
    """Upstream: one request with padded headers. Downstream: many in one go, each answered by a status line and a length at least."""
    if stream == "upstream":
        pads, rest = divmod(size_bytes, 4_000)
        lengths = [4_000] * pads + [rest]
        padding = b"".join(
            b"X-Pad-%d: %s\r\n" % (place, b"x" * length) for place, length in enumerate(lengths)
        )
        return Question(request=_GET + padding + b"\r\n")
    return Question(
        request=HTTP.short.request * (size_bytes // _HTTP_ANSWER_BYTES_MIN + 1), enough_bytes=size_bytes
    )


def _redis_bulk(size_bytes: int, stream: Stream) -> Question:
    """Many small commands in one go, as a server that wants a password first takes no large ones."""
    if stream == "upstream":
        pings = _PING * (size_bytes // len(_PING) + 1)
        return Question(request=pings + REDIS.parting.request, enough_bytes=None)
    return Question(request=_PING * (size_bytes // len(_PONG) + 1), enough_bytes=size_bytes)


def _pg_bulk(size_bytes: int) -> Question:
    """Ask for unknown protocol options, whose names the server sends back before it asks who is there."""
    option = b"_pq_." + b"x" * max(1, size_bytes - 5)
    body = struct.pack("!i", _PG_VERSION) + b"user\0probe\0" + option + b"\0" + b"1\0" + b"\0"
    return Question(request=struct.pack("!i", len(body) + 4) + body, enough_bytes=size_bytes)
