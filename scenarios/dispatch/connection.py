"""A keep-alive HTTP/1.1 connection: one exchange at a time, answered by callbacks of the event loop.

Nothing here is ever sent twice, and nothing waits but for its one deadline. The socket is the system's own rather than
gevent's: `launch` must hand its bytes to the kernel without giving way to another greenlet.
"""

from __future__ import annotations

import errno
import socket as _patched
import time
from typing import TYPE_CHECKING, Any

import httptools
from gevent import Timeout, get_hub, monkey

from scenarios.journal import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios.dispatch.exchange import Exchange
    from scenarios.targets.target import Node

_socket_type = monkey.get_original("socket", "socket")
_READABLE, _WRITABLE = 1, 2
_READ_BYTES = 65_536
_INTERIM_BELOW = 200
_RESET = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED})


class NotConnected(Exception):  # noqa: N818 — it says what is the case
    """No connection came about, so certainly nothing was sent; `failure` says why, `at_ns` since when that is known.

    It may be told of much later, when whatever kept the node away is over.
    """

    def __init__(self, failure: Failure, sentence: str, *, at_ns: int | None = None) -> None:
        super().__init__(sentence)
        self.failure = failure
        self.at_ns = time.monotonic_ns() if at_ns is None else at_ns


class Connection:
    """One TCP connection to a node; `dead` once it cannot carry another exchange, `answered` once it has carried one.

    `ended_ns` is when it was found dead.
    """

    __slots__ = (
        "_chunks",
        "_complete",
        "_exchange",
        "_headers",
        "_io",
        "_keep",
        "_parser",
        "_rest",
        "_socket",
        "_timer",
        "_writing",
        "answered",
        "dead",
        "ended_ns",
        "node",
    )

    def __init__(self, node: Node, *, headers: tuple[bytes, bytes], connect_seconds: float) -> None:
        """Connect, giving way to other greenlets meanwhile; raises NotConnected."""
        self.node = node
        self.dead = False
        self.ended_ns: int | None = None
        self.answered = False
        self._headers = headers  # those that say: a stored answer, and who let the command in
        self._exchange: Exchange | None = None
        self._chunks: list[bytes] = []
        self._complete = False
        self._keep = True
        self._rest = b""
        self._parser = httptools.HttpResponseParser(self)
        self._socket = _connected(node, connect_seconds)
        loop = get_hub().loop
        self._io = loop.io(self._socket.fileno(), _READABLE)
        self._io.start(self._readable)
        self._writing = loop.io(self._socket.fileno(), _WRITABLE)
        self._timer: Any = None

    def launch(self, exchange: Exchange, stamp: Callable[[int, int], None]) -> None:
        """Stamp the instant into the journal and hand the bytes to the kernel, without a yield."""
        self._exchange = exchange
        now = time.monotonic_ns()
        stamp(exchange.slot, now)
        exchange.sent_ns = now
        try:
            sent = self._socket.send(exchange.wire)
        except BlockingIOError:
            sent = 0
        except OSError:
            get_hub().loop.run_callback(self._fail, Failure.RESET)
            return
        if sent < len(exchange.wire):
            self._rest = exchange.wire[sent:]
            self._writing.start(self._writable)

    def arm(self, deadline_ns: int) -> None:
        """Set the one deadline of the exchange under way."""
        remaining = max(deadline_ns - time.monotonic_ns(), 0) / 1e9
        self._timer = get_hub().loop.timer(remaining)
        self._timer.start(self._fail, Failure.TIMEOUT)

    def close(self) -> None:
        """Close; an exchange under way is left without an answer."""
        if not self.dead:
            self.dead = True
            self.ended_ns = time.monotonic_ns()
            self._disarm()
            for watcher in (self._io, self._writing):
                watcher.stop()
                watcher.close()
            self._socket.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep the two headers that matter (httptools)."""
        name = name.lower()
        if self._exchange is None:
            return
        if name == self._headers[0]:
            self._exchange.replayed = value
        elif name == self._headers[1]:
            self._exchange.admission = value

    def on_body(self, chunk: bytes) -> None:
        """Keep a part of the body (httptools)."""
        self._chunks.append(chunk)

    def on_message_complete(self) -> None:
        """Note the end of an answer (httptools)."""
        self._complete = self._parser.get_status_code() >= _INTERIM_BELOW
        self._keep = self._parser.should_keep_alive()

    def _readable(self) -> None:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._fail(Failure.RESET)
            return
        now = time.monotonic_ns()
        if not data:
            self._fail(Failure.EOF)
            return
        if self._exchange is None:
            self.close()  # words nobody asked for: whatever follows could be taken for an answer
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._fail(Failure.MALFORMED)
            return
        if self._complete:
            self._answer(self._exchange, now)

    def _answer(self, exchange: Exchange, now: int) -> None:
        exchange.done_ns = now
        exchange.status = self._parser.get_status_code()
        exchange.body = b"".join(self._chunks)
        self._chunks.clear()
        self._complete = False
        self._exchange = None
        self.answered = True
        self._disarm()
        if not self._keep or self._rest:
            self.close()
        exchange.on_done()

    def _fail(self, failure: Failure) -> None:
        exchange, self._exchange = self._exchange, None
        self.close()
        if exchange is not None:
            exchange.fall(failure)
            exchange.on_done()

    def _writable(self) -> None:
        try:
            self._rest = self._rest[self._socket.send(self._rest) :]
        except BlockingIOError:
            return
        except OSError:
            self._fail(Failure.RESET)
            return
        if not self._rest:
            self._writing.stop()

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.close()
            self._timer = None


def _connected(node: Node, seconds: float) -> Any:
    made = _socket_type(_patched.AF_INET, _patched.SOCK_STREAM)
    made.setblocking(False)
    made.setsockopt(_patched.IPPROTO_TCP, _patched.TCP_NODELAY, 1)
    try:
        error = made.connect_ex((node.host, node.port))
        if error == errno.EINPROGRESS:
            _await_writable(made, seconds)
            error = made.getsockopt(_patched.SOL_SOCKET, _patched.SO_ERROR)
    except NotConnected:
        made.close()
        raise
    if error:
        made.close()
        failure = Failure.RESET if error in _RESET else Failure.REFUSED
        raise NotConnected(
            failure, f"{node.label} at {node.host}:{node.port}: {errno.errorcode.get(error, error)}"
        )
    return made


def _await_writable(made: Any, seconds: float) -> None:
    """Wait until the connection has come about or failed; raises NotConnected, which knows when it gave up."""
    watcher = get_hub().loop.io(made.fileno(), _WRITABLE)
    try:
        with Timeout(seconds, exception=False):
            get_hub().wait(watcher)
            return
    finally:
        watcher.close()
    raise NotConnected(Failure.TIMEOUT, f"no connection after {seconds} s")
