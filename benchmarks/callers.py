"""Callers as lean as asyncio allows: keep-alive connections, each sending its next request once it was answered."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANSWER_SECONDS: Final = 20.0
_CREATED: Final = b"201"
_LENGTH: Final = b"content-length: "


class BenchmarkError(Exception):
    """Something was not as the benchmark needs it, so that a number would mean nothing."""


@dataclass(slots=True)
class Tally:
    """What one round of calls came to; latencies in seconds."""

    latencies: list[float] = field(default_factory=list)
    refused: dict[bytes, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Holds answered 201 a second."""
        return len(self.latencies) / self.seconds

    def quantile(self, share: float) -> float:
        """Return a latency in seconds."""
        return sorted(self.latencies)[min(len(self.latencies) - 1, int(len(self.latencies) * share))]


class _Caller(asyncio.Protocol):
    """One connection: it reads no more of an answer than its status and where it ends."""

    def __init__(self, requests: Iterator[bytes], tally: Tally, may_go_on: Callable[[], bool]) -> None:
        self._requests = requests
        self._tally = tally
        self._may_go_on = may_go_on
        self._buffer = b""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        self._transport = cast("asyncio.Transport", transport)

    def send(self) -> None:
        """Send the next request."""
        self._sent = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        """Count an answer once all of it is here, and go on."""
        buffer = self._buffer = self._buffer + data
        if (head := buffer.find(b"\r\n\r\n")) < 0:
            return
        at = buffer.index(_LENGTH) + len(_LENGTH)
        if len(buffer) < head + 4 + int(buffer[at : buffer.index(b"\r\n", at)]):
            return
        if (status := buffer[9:12]) == _CREATED:
            self._tally.latencies.append(time.perf_counter() - self._sent)
        else:
            self._tally.refused[status] = self._tally.refused.get(status, 0) + 1
        self._buffer = b""
        if self._may_go_on():
            self.send()
        else:
            self.ended.set_result(None)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """Let nobody wait for an answer that cannot come."""
        if not self.ended.done():
            self.ended.set_exception(BenchmarkError(f"a connection ended in the middle of a call: {error}"))


async def call(port: int, requests: list[Iterator[bytes]], *, seconds: float) -> Tally:
    """Send each iterator's requests over a connection of its own for a while; raises BenchmarkError."""
    loop = asyncio.get_running_loop()
    tally = Tally()
    until = time.perf_counter() + seconds

    def may_go_on() -> bool:
        return time.perf_counter() < until

    callers = [
        (await loop.create_connection(partial(_Caller, own, tally, may_go_on), "127.0.0.1", port))[1]
        for own in requests
    ]
    began = time.perf_counter()
    until = began + seconds
    for caller in callers:
        caller.send()
    async with asyncio.timeout(seconds + ANSWER_SECONDS):
        await asyncio.gather(*(caller.ended for caller in callers))
    tally.seconds = time.perf_counter() - began
    if not tally.latencies or len(tally.latencies) < 10 * sum(tally.refused.values()):
        raise BenchmarkError(f"{len(tally.latencies)} holds and refusals {tally.refused}")
    return tally
