"""The server's side of a connection: what is no request is refused in the service's own words, and none comes for ever.

uvicorn's own protocol reads a head of any size for as long as it takes, and answers what it cannot read in plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from service import errors

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from service.errors import Refusal
    from service.settings import Settings

_LINGER_SECONDS: Final = 2.0  # in which a client that still sends may read why it should not
_HEAD: Final = "content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"


class Listener(HttpToolsProtocol):
    """Reads one connection's requests; the limits are `head_bytes_max` and `request_seconds`."""

    def __init__(self, settings: Settings, **given: Any) -> None:
        super().__init__(**given)
        self._bytes_max = settings.head_bytes_max
        self._seconds_max = settings.request_seconds
        self._deaf = False
        self._in_head = False
        self._bytes = 0  # of a head that did not come in one piece
        self._deadline: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Read what has come; a head that is not whole yet has a limit and a deadline."""
        if self._deaf:
            return
        super().data_received(data)
        if self._in_head:
            self._wait_for_more(len(data))
        elif self._deadline is not None:
            self._forget()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting for the rest of a head."""
        self._forget()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Note that a head has begun."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head is whole."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read; uvicorn has logged `msg`."""
        del msg
        self._refuse(errors.MALFORMED_REQUEST)

    def _wait_for_more(self, read: int) -> None:
        self._bytes += read
        if self._bytes > self._bytes_max:
            self._refuse(errors.HEAD_TOO_LARGE)
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds_max, self._refuse, errors.REQUEST_INCOMPLETE)

    def _forget(self) -> None:
        self._bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, refusal: Refusal) -> None:
        """Answer and listen no more; whoever is still being decided about has their own answer first, and only that."""
        self._deaf = True
        self._in_head = False
        self._forget()
        if self.transport.is_closing():
            return
        if not self._next_to_be_answered():
            self.cycle.keep_alive = False
            return
        body = refusal.body.encode()
        self.transport.write(STATUS_LINE[refusal.status] + _HEAD.format(length=len(body)).encode() + body)
        # Closed with bytes unread, the connection would be reset, and the answer lost on its way.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGER_SECONDS, self.transport.close)

    def _next_to_be_answered(self) -> bool:
        """Whether what cannot be read is a new request's head, or the body of the only one that waits for an answer."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        if cycle is None or cycle.response_complete:
            return True
        if cycle.more_body and not cycle.response_started and not self.pipeline:
            cycle.disconnected = True  # its own answer would come too late
            cycle.message_event.set()
            return True
        return False
