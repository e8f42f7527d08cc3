"""What each toxic does to a stream, as read in Toxiproxy 2.12 and seen on loopback."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from chaos.standin.stage import Stage

_SLICE_SECONDS = 0.1  # a slow bandwidth sends this often


class Attributes(msgspec.Struct):
    """The attributes of one type of toxic; unknown names are ignored and missing ones zero, as in the original."""

    async def work(self, stage: Stage) -> None:
        """Pass chunks from the stage's inbox to its outbox; returning ends the stream."""
        raise NotImplementedError


class Latency(Attributes):
    """Each chunk leaves `latency` ± `jitter` ms after it arrived."""

    latency: int = 0
    jitter: int = 0

    async def work(self, stage: Stage) -> None:
        """Hold each chunk back; the end is not held back."""
        while not (chunk := await stage.take()).end:
            spread_ms = random.randrange(-self.jitter, self.jitter) if self.jitter > 0 else 0  # noqa: S311 - chaos, no secret
            due = chunk.arrived + (self.latency + spread_ms) / 1000
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            stage.pass_on(chunk.data)


class Bandwidth(Attributes):
    """At most `rate` KB/s; 0 stalls all data."""

    rate: int = 0

    async def work(self, stage: Stage) -> None:
        """Send what one tick allows at each tick, and pay for the rest of a chunk before it leaves."""
        loop = asyncio.get_running_loop()
        debt_seconds = 0.0
        per_tick = int(self.rate * 1000 * _SLICE_SECONDS)
        while not (chunk := await stage.take()).end:
            data = chunk.data
            while len(data) > per_tick:
                await asyncio.sleep(_SLICE_SECONDS)
                if per_tick > 0:
                    stage.pass_on(data[:per_tick], rest=data[per_tick:])
                    data = data[per_tick:]
            debt_seconds += len(data) / (self.rate * 1000)
            started = loop.time()
            await asyncio.sleep(max(0.0, debt_seconds))
            debt_seconds -= loop.time() - started  # what the clock overslept is not charged again
            stage.pass_on(data)


class SlowClose(Attributes):
    """The close comes `delay` ms late; data is not touched."""

    delay: int = 0

    async def work(self, stage: Stage) -> None:
        """Pass data at once, hold the end back."""
        while not (chunk := await stage.take()).end:
            stage.pass_on(chunk.data)
        await asyncio.sleep(self.delay / 1000)


class Timeout(Attributes):
    """All data is dropped; closes once `timeout` ms pass without any (0: never). Removal closes too."""

    timeout: int = 0

    async def work(self, stage: Stage) -> None:
        """Drop chunks until the peer ends the stream or falls silent."""
        idle_seconds = self.timeout / 1000 if self.timeout > 0 else None
        try:
            while True:
                async with asyncio.timeout(idle_seconds):
                    chunk = await stage.take()
                if chunk.end:
                    return
                stage.drop()
        except TimeoutError:
            return


class ResetPeer(Attributes):
    """The first data, or the end, closes the connection `timeout` ms later; by RST if it was opened since."""

    timeout: int = 0

    async def work(self, stage: Stage) -> None:
        """Wait for anything, drop it, wait, close."""
        await stage.take()
        stage.drop()
        await asyncio.sleep(self.timeout / 1000)


class Slicer(Attributes):
    """Chunks are cut to `average_size` ± `size_variation` bytes, `delay` µs apart."""

    average_size: int = 0
    size_variation: int = 0
    delay: int = 0

    async def work(self, stage: Stage) -> None:
        """Send each chunk slice by slice."""
        while not (chunk := await stage.take()).end:
            data = chunk.data
            while data:
                size = self._size(len(data))
                stage.pass_on(data[:size], rest=data[size:])
                data = data[size:]
                await asyncio.sleep(self.delay / 1_000_000)

    def _size(self, left_bytes: int) -> int:
        if left_bytes - self.average_size <= self.size_variation:
            return left_bytes
        spread = random.randint(-self.size_variation, self.size_variation) if self.size_variation > 0 else 0  # noqa: S311 - chaos, no secret
        return max(1, self.average_size + spread)


class LimitData(Attributes):
    """Closes after `bytes` have passed in this direction of a connection; 0 closes on the first data."""

    bytes: int = 0

    async def work(self, stage: Stage) -> None:
        """Count bytes across interruptions."""
        while not (chunk := await stage.take()).end:
            room = max(0, self.bytes - stage.passed_bytes)
            if room:
                stage.pass_on(chunk.data[:room], rest=chunk.data[room:])
            if stage.passed_bytes >= self.bytes:
                return


TYPES: dict[str, type[Attributes]] = {
    "latency": Latency,
    "bandwidth": Bandwidth,
    "slow_close": SlowClose,
    "timeout": Timeout,
    "reset_peer": ResetPeer,
    "slicer": Slicer,
    "limit_data": LimitData,
}


class Toxic(msgspec.Struct, kw_only=True):
    """A toxic as the API shows it."""

    attributes: Attributes
    name: str
    type: str
    stream: str
    toxicity: float
