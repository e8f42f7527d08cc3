"""Probes: short conversations through a link that any server behind it must answer, each with a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.network import Link, Stream

Ending = Literal["answered", "silent", "ended", "reset", "refused"]

_PG_SSL_REQUEST = struct.pack("!ii", 8, 80877103)
_PG_CANCEL_NOBODY = struct.pack("!iiii", 16, 80877102, 0, 0)  # closed at once, whoever asks
_PG_VERSION = 196608
_PG_STARTUP_BYTES_MAX = 9_000  # the server refuses more than 10,000
_REDIS_LINE_BYTES_MAX = 60_000  # the server refuses more than 65,536
_REDIS_ANSWER_BYTES_MIN = 150
_REDIS_TOLD_BYTES_MAX = 9_000  # without a password it closes where over 16,384 bytes of answers wait
_HTTP_HEAD_BYTES_MAX = 60_000  # as above
_HTTP_ANSWER_BYTES_MIN = 40
_PROVIDER_PATH_BYTES_MAX = 15_000  # a provider refuses more than 16,384
_PROVIDER_BODY_BYTES_MAX = 1_000_000
_HTTP_TOLD_BYTES_MAX = 200_000  # more of many small answers would be a load of its own
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Bytes to send, and how many bytes of answer suffice; None reads to the end of the connection.

    Who is `leaving` says with it that no more will come, and still listens.
    """

    request: bytes
    enough_bytes: int | None = 1
    leaving: bool = False


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """How to talk to one kind of server: briefly, so that it closes, and at length in one direction, up to a most."""

    short: Question
    parting: Question
    asking: Callable[[int], Question]
    told: Callable[[int], Question]
    asked_bytes_max: int
    told_bytes_max: int
    closes: bool = False  # after each answer

    def most_bytes(self, stream: Stream) -> int:
        """Return how many bytes a probe can have pass in one direction."""
        return self.asked_bytes_max if stream == "upstream" else self.told_bytes_max

    def bulk(self, size_bytes: int, stream: Stream) -> Question:
        """Ask so that at least `size_bytes` pass in one direction, or as many as the protocol allows.

        Upstream, the server says nothing before the last byte has come; downstream, it says more unless it is kept from it.
        """
        ask_so = self.asking if stream == "upstream" else self.told
        return ask_so(min(size_bytes, self.most_bytes(stream)))


def _padded_head(size_bytes: int) -> Question:
    """Send one request with padded headers."""
    pads, rest = divmod(size_bytes, 4_000)
    lengths = [4_000] * pads + [rest]
    padding = b"".join(b"X-Pad-%d: %s\r\n" % (place, b"x" * length) for place, length in enumerate(lengths))
    return Question(request=_GET + padding + b"\r\n")


def _many_gets(size_bytes: int) -> Question:
    """Send many requests in one go, each answered by a status line and a length at least."""
    many = size_bytes // _HTTP_ANSWER_BYTES_MIN + 1
    return Question(request=(_GET + b"\r\n") * many, enough_bytes=size_bytes)


def _padded_body(size_bytes: int) -> Question:
    """Look something up with a body, which a provider reads first."""
    head = _LOOK_UP + b"probe HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size_bytes
    return Question(request=head + b"x" * size_bytes)


def _long_look_up(size_bytes: int) -> Question:
    """Look up a long id, which a provider says again: it answers one request and closes, so that many would not do."""
    return Question(request=_LOOK_UP + b"x" * size_bytes + b" HTTP/1.1\r\n\r\n", enough_bytes=size_bytes)


def _padded_ping(size_bytes: int) -> Question:
    """Send one long line: a server that wants a password first takes no other large commands."""
    return Question(request=b"PING " + b"x" * size_bytes + b"\r\n")


def _many_hellos(size_bytes: int) -> Question:
    """Send many small commands in one go, each of which is answered at length, whether or not a password was given."""
    many = size_bytes // _REDIS_ANSWER_BYTES_MIN + 1
    return Question(request=b"HELLO\r\n" * many, enough_bytes=size_bytes)


def _pg_startup(size_bytes: int) -> bytes:
    """Ask for unknown protocol options, whose names the server sends back before it asks who is there."""
    option = b"_pq_." + b"x" * max(1, size_bytes - 5)
    body = struct.pack("!i", _PG_VERSION) + b"user\0probe\0" + option + b"\0" + b"1\0" + b"\0"
    return struct.pack("!i", len(body) + 4) + body


_GET = b"GET /health/live HTTP/1.1\r\nHost: probe\r\n"
_LOOK_UP = b"GET /probe/effects/"
_PING = b"PING\r\n"

LEAVING = Question(request=b"", enough_bytes=None, leaving=True)
"""Say nothing and leave: through a proxy the client's end becomes the server's, and the server's the client's again."""

HTTP = Speech(
    short=Question(request=_GET + b"\r\n"),
    parting=Question(request=_GET + b"Connection: close\r\n\r\n", enough_bytes=None),
    asking=_padded_head,
    told=_many_gets,
    asked_bytes_max=_HTTP_HEAD_BYTES_MAX,
    told_bytes_max=_HTTP_TOLD_BYTES_MAX,
)
PROVIDER = Speech(
    short=_long_look_up(1),
    parting=Question(request=_long_look_up(1).request, enough_bytes=None),
    asking=_padded_body,
    told=_long_look_up,
    asked_bytes_max=_PROVIDER_BODY_BYTES_MAX,
    told_bytes_max=_PROVIDER_PATH_BYTES_MAX,
    closes=True,
)
REDIS = Speech(
    short=Question(request=_PING),
    parting=Question(request=b"QUIT\r\n", enough_bytes=None),
    asking=_padded_ping,
    told=_many_hellos,
    asked_bytes_max=_REDIS_LINE_BYTES_MAX,
    told_bytes_max=_REDIS_TOLD_BYTES_MAX,
)
POSTGRESQL = Speech(
    short=Question(request=_PG_SSL_REQUEST),
    parting=Question(request=_PG_CANCEL_NOBODY, enough_bytes=None),
    asking=lambda size_bytes: Question(request=_pg_startup(size_bytes)),
    told=lambda size_bytes: Question(request=_pg_startup(size_bytes), enough_bytes=size_bytes),
    asked_bytes_max=_PG_STARTUP_BYTES_MAX,
    told_bytes_max=_PG_STARTUP_BYTES_MAX,
)

_SPEECHES = {"pg": POSTGRESQL, "redis": REDIS, "edge": HTTP, "payment": PROVIDER, "notification": PROVIDER}


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
            if question.leaving:
                writer.write_eof()
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
