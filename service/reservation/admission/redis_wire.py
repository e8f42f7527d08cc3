"""One connection to Redis for a whole node: each call is written at once, and the replies come in the calls' order.

A node asks Redis twice for every command. With a general client the two cost as much of the node's CPU as everything
else that it does for a hold; all that is asked here are scripts that return an integer, which takes no more than this.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, cast

from redis.asyncio.connection import parse_url
from redis.exceptions import ResponseError

_LINE: Final = b"\r\n"
_NO_SCRIPT: Final = b"-NOSCRIPT"


class Script:
    """A Lua script that returns an integer; `keys` and then the arguments follow when it is called."""

    def __init__(self, text: str, *, keys: int) -> None:
        source = text.encode()
        digest = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
        self._by_digest = _bulks(b"EVALSHA", digest, b"%d" % keys)
        self._by_text = _bulks(b"EVAL", source, b"%d" % keys)

    def command(self, given: tuple[bytes, ...], *, known: bool) -> bytes:
        """Return the call as it is sent; a server that does not know the script yet has to be told its text."""
        return b"*%d\r\n" % (3 + len(given)) + (self._by_digest if known else self._by_text) + _bulks(*given)


class Wire:
    """The connection, made when first asked for and again after it was lost; a call waits no longer than `timeout_seconds`."""

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self._options = parse_url(url)
        self._timeout_seconds = timeout_seconds
        self._session: _Session | None = None
        self._connecting: asyncio.Task[_Session] | None = None

    async def run(self, script: Script, *given: bytes) -> int:
        """Run a script; raises OSError, TimeoutError or RedisError (which a server's error is)."""
        reply = await self._ask(script.command(given, known=True))
        if reply.startswith(_NO_SCRIPT):
            reply = await self._ask(script.command(given, known=False))
        if not _checked(reply).startswith(b":"):
            raise ResponseError(f"no integer: {reply!r}")
        return int(reply[1:])

    async def ping(self) -> None:
        """Ask whether it is there; raises as `run` does."""
        _checked(await self._ask(b"*1\r\n" + _bulks(b"PING")))

    async def close(self) -> None:
        """End the connection; whoever still waits is told that it is lost."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        if self._session is not None:
            self._session.end(ConnectionAbortedError("closed"))

    async def _ask(self, command: bytes) -> bytes:
        session = self._session
        if session is None or session.lost:
            session = await self._connected()
        return await session.ask(command)

    async def _connected(self) -> _Session:
        """Share one attempt among all who come meanwhile; one who is cancelled leaves it to the others."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(self._connected_or_not)
        return await asyncio.shield(self._connecting)

    def _connected_or_not(self, attempt: asyncio.Task[_Session]) -> None:
        self._connecting = None
        if not attempt.cancelled() and attempt.exception() is None:
            self._session = attempt.result()

    async def _connect(self) -> _Session:
        options, loop = self._options, asyncio.get_running_loop()
        session = _Session(self._timeout_seconds)
        async with asyncio.timeout(self._timeout_seconds):
            if path := options.get("path"):
                await loop.create_unix_connection(lambda: session, path)
            else:
                secure = ssl.create_default_context() if "connection_class" in options else None
                host, port = options.get("host", "localhost"), options.get("port", 6379)
                await loop.create_connection(lambda: session, host, port, ssl=secure)
            try:
                for command in _greetings(options):
                    _checked(await session.ask(command))
            except BaseException:
                session.end(ConnectionAbortedError("refused"))
                raise
        return session


@dataclass(slots=True, eq=False)
class _Session(asyncio.Protocol):
    """One TCP connection and those who wait for its replies, the oldest first."""

    timeout_seconds: float
    lost: bool = False
    _transport: asyncio.Transport | None = None
    _rest: bytes = b""
    _waiting: deque[tuple[float, asyncio.Future[bytes]]] = field(default_factory=deque)
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def ask(self, command: bytes) -> asyncio.Future[bytes]:
        """Send a command; its reply comes, or the connection is given up, within the timeout."""
        loop = asyncio.get_running_loop()
        reply = loop.create_future()
        if self._transport is None or self.lost:
            reply.set_exception(ConnectionResetError("lost"))
            return reply
        self._transport.write(command)
        self._waiting.append((loop.time(), reply))
        if self._watch is None:
            self._watch = loop.call_later(self.timeout_seconds, self._look)
        return reply

    def data_received(self, data: bytes) -> None:
        """Hand each reply, a line, to the oldest who waits; one who was cancelled had theirs read all the same."""
        *lines, self._rest = (self._rest + data).split(_LINE)
        for line in lines:
            if not self._waiting:
                return self.end(ConnectionAbortedError("a reply to nothing"))
            _, reply = self._waiting.popleft()
            if not reply.done():
                reply.set_result(line)
        return None

    def connection_lost(self, error: Exception | None) -> None:
        self.end(error or ConnectionResetError("closed by Redis"))

    def end(self, why: Exception) -> None:
        """Give the connection up and tell everyone who waits."""
        self.lost = True
        if self._watch is not None:
            self._watch.cancel()
        if self._transport is not None:
            self._transport.abort()
        while self._waiting:
            _, reply = self._waiting.popleft()
            if not reply.done():
                reply.set_exception(type(why)(*why.args))

    def _look(self) -> None:
        """One clock watches the oldest call: replies that come in order are never later than its."""
        self._watch = None
        if not self._waiting:
            return
        loop = asyncio.get_running_loop()
        left = self._waiting[0][0] + self.timeout_seconds - loop.time()
        if left <= 0:
            self.end(TimeoutError("Redis does not answer"))
        else:
            self._watch = loop.call_later(left, self._look)


def _greetings(options: Any) -> list[bytes]:
    """Return what a connection starts with: who asks, and in which database."""
    commands = []
    if password := options.get("password"):
        who = [options[name].encode() for name in ("username",) if options.get(name)]
        commands.append(b"*%d\r\n" % (2 + len(who)) + _bulks(b"AUTH", *who, password.encode()))
    if database := options.get("db"):
        commands.append(b"*2\r\n" + _bulks(b"SELECT", b"%d" % database))
    return commands


def _bulks(*parts: bytes) -> bytes:
    return b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])


def _checked(reply: bytes) -> bytes:
    if reply.startswith(b"-"):
        raise ResponseError(reply[1:].decode(errors="replace"))
    return reply
