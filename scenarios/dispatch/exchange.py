"""One request and its answer, whatever connection carries them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scenarios.journal import Failure

if TYPE_CHECKING:
    from collections.abc import Callable


class Exchange:
    """One request on its way: what leaves, and what came back. `slot` is its place in the journal."""

    __slots__ = (
        "admission",
        "body",
        "done_ns",
        "failure",
        "on_done",
        "replayed",
        "sent_ns",
        "slot",
        "status",
        "wire",
    )

    def __init__(self, wire: bytes, slot: int, on_done: Callable[[], Any]) -> None:
        """Take the request's bytes and what to call, once, in the event loop, when it has ended either way."""
        self.wire = wire
        self.slot = slot
        self.on_done = on_done
        self.sent_ns = 0
        self.done_ns = 0
        self.status = 0
        self.body = b""
        self.replayed: bytes | None = None
        self.admission: bytes | None = None
        self.failure = Failure.NONE

    def fall(self, failure: Failure, at_ns: int | None = None) -> None:
        """End it without an answer, now unless told when."""
        self.failure, self.done_ns = failure, time.monotonic_ns() if at_ns is None else at_ns
