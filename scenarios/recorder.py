"""Tells Locust of each operation, so that its statistics, web page and distributed mode work as for any other load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.journal import Outcome

if TYPE_CHECKING:
    from locust.env import Environment

    from scenarios.dispatch.exchange import Exchange

_MS = 1_000_000


class Unanswered(Exception):  # noqa: N818 — what Locust lists among its failures
    """Nobody knows whether the operation happened."""


class Recorder:
    """Fires Locust's request event; a refusal is a proper answer, only an unknown outcome is a failure."""

    __slots__ = ("_fire",)

    def __init__(self, environment: Environment) -> None:
        self._fire: Any = environment.events.request.fire

    def __call__(self, kind: str, exchange: Exchange, outcome: Outcome) -> None:
        """Tell of one operation: its service time in ms, and the bytes of its answer."""
        began_ns = exchange.sent_ns or exchange.done_ns
        self._fire(
            request_type="HTTP",
            name=kind,
            response_time=(exchange.done_ns - began_ns) / _MS,
            response_length=len(exchange.body),
            exception=Unanswered(exchange.failure.name) if outcome is Outcome.INFO else None,
            context={},
        )
