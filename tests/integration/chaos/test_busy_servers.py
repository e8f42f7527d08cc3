"""A server that is now and then slow by itself: no delay is read out of that, and none is called indistinguishable."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from chaos.delay_faults import Latency, SlowClose
from chaos.fault import NotSeen, Reach
from chaos.network import Link
from chaos.schedule import at
from chaos.stream_faults import Bandwidth, Slicer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SLOW_SECONDS = 0.15


@asynccontextmanager
async def serving(slow: set[int]) -> AsyncIterator[Reach]:
    """Have a server on a link that no proxy is on: it speaks and ends like Redis, late in those of its conversations."""
    conversations = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal conversations
        conversations += 1
        late = conversations in slow
        said = await reader.readline()
        if late:
            await asyncio.sleep(SLOW_SECONDS)
        writer.write(b"+OK\r\n" if said.startswith(b"QUIT") else b"+PONG\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    link = Link(name="redis-busy", host="127.0.0.1", port=port, upstream=f"127.0.0.1:{port}")
    async with server:
        yield Reach(links={"redis-busy": link})


@pytest.mark.parametrize(
    "fault",
    [
        Latency("redis-busy", ms=80),
        SlowClose("redis-busy", ms=80),
        Bandwidth("redis-busy", kilobytes_per_second=20, stream="upstream"),
        Slicer("redis-busy", size_bytes=512, pause_us=2_000, stream="upstream"),
    ],
    ids=str,
)
async def test_a_slow_moment_is_no_delay(fault: Latency | SlowClose | Bandwidth | Slicer) -> None:
    async with serving(slow={1, 2}) as reach:
        with pytest.raises(NotSeen, match=r"was (answered|ended) after"):
            await fault.prove(reach, usual_seconds=0.001)


@pytest.mark.parametrize("fault", [Latency("redis-busy", ms=100), SlowClose("redis-busy", ms=100)], ids=str)
async def test_a_slow_moment_is_not_the_usual(fault: Latency | SlowClose) -> None:
    async with serving(slow={1, 2, 3, 4}) as reach:
        assert await fault.check(reach) < 0.1


async def test_a_delay_that_may_be_none_cannot_be_told_from_any_round_trip() -> None:
    """As likely as not nothing comes late: no number of looks would show it, and none may be divided by."""
    fault = Latency("redis-busy", ms=20, jitter_ms=20)
    planned = at(seconds=0, inject=fault, heal_after=0.01)
    assert planned.fault.seconds_least == 0
    async with serving(slow=set()) as reach:
        with pytest.raises(NotSeen, match="cannot be told from a usual round trip"):
            await fault.prove(reach, await fault.check(reach))


async def test_a_server_that_is_always_slow_hides_a_delay() -> None:
    fault = Latency("redis-busy", ms=100)
    async with serving(slow=set(range(1, 100))) as reach:
        usual_seconds = await fault.check(reach)
        with pytest.raises(NotSeen, match=r"cannot be told from a usual round trip of \d{3,}\."):
            await fault.prove(reach, usual_seconds)


async def test_a_delay_of_seconds_is_looked_for_once() -> None:
    """Three looks of that length would be longer than such a fault may last."""
    fault = Latency("redis-busy", ms=600)
    async with serving(slow=set()) as reach:
        with pytest.raises(NotSeen, match="was answered after"):
            await fault.prove(reach, usual_seconds=0.001)
