"""A circuit breaker: after a few failures in a row the other side is left alone for a while, then tried once."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Circuit(StrEnum):
    """CLOSED → OPEN → HALF_OPEN → CLOSED | OPEN."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class Breaker:
    """Counts failures in a row; while it is open nobody asks, so that an outage costs a bounded latency.

    The node's own monotonic clock decides here: how long to leave Redis alone is no decision about the ledger.
    """

    def __init__(
        self, *, failures: int, open_ms: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._failures_max = failures
        self._open_seconds = open_ms / 1_000
        self._monotonic = monotonic
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False

    @property
    def circuit(self) -> Circuit:
        """How it stands now."""
        if self._opened_at is None:
            return Circuit.CLOSED
        rested = self._monotonic() - self._opened_at >= self._open_seconds
        return Circuit.HALF_OPEN if rested else Circuit.OPEN

    def may_ask(self) -> bool:
        """Whether the caller may ask now; once it has rested, exactly one may, and must report what came of it."""
        match self.circuit:
            case Circuit.CLOSED:
                return True
            case Circuit.OPEN:
                return False
        if self._trying:
            return False
        self._trying = True
        return True

    def succeeded(self) -> None:
        """Report an answer, whatever it said."""
        self._failures = 0
        self._opened_at = None
        self._trying = False

    def failed(self) -> None:
        """Report that no answer was had."""
        self._failures += 1
        if self._trying or self._failures >= self._failures_max:
            self._opened_at = self._monotonic()
        self._trying = False
