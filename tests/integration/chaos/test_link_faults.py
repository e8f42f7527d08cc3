"""Every fault of the network lands on real servers, shows itself to a probe, and heals."""

from __future__ import annotations

import asyncio

import pytest

from chaos.faults import (
    KINDS,
    Bandwidth,
    Blackhole,
    Cut,
    Fault,
    Latency,
    LimitData,
    LostReply,
    NotSeen,
    Reach,
    Reset,
    Slicer,
    SlowClose,
    Unwell,
    throughout,
)
from chaos.nemesis import Nemesis

SERVERS = ("pg-a", "redis-a", "edge-a")


def faults(where: str) -> list[Fault]:
    return [
        Bandwidth(where, kilobytes_per_second=20),
        Bandwidth(where, kilobytes_per_second=20, stream="upstream"),
        Bandwidth(where, kilobytes_per_second=0),
        Blackhole(where),
        Blackhole(where, stream="upstream"),
        Blackhole(where, stream="downstream"),
        Cut(where),
        Latency(where, ms=80),
        Latency(where, ms=80, jitter_ms=20),
        Latency(where, ms=40, stream="both"),
        LimitData(where, limit_bytes=0),
        LimitData(where, limit_bytes=60),
        LostReply(where),
        Reset(where),
        Reset(where, after_ms=50),
        Slicer(where, size_bytes=16, pause_us=20_000),
        SlowClose(where, ms=200),
    ]


EVERY = [fault for where in SERVERS for fault in faults(where)]


def test_every_kind_is_here() -> None:
    assert {fault.kind for fault in EVERY} == {
        kind for kind, fault in KINDS.items() if fault.acts_on == "link"
    }


@pytest.mark.parametrize("fault", EVERY, ids=str)
async def test_a_fault_lands_shows_itself_and_heals(reach: Reach, fault: Fault) -> None:
    async with Nemesis([throughout(inject=fault)], reach) as nemesis:
        (record,) = nemesis.records
        assert (record.error, record.healed_ns) == (None, None)
        assert record.proof
        assert record.proof.startswith(f"{fault.where}: ")
    assert record.error is None
    instants = [record.planned_ns, record.injected_ns, record.landed_ns, record.healed_ns]
    assert [each for each in instants if each] == sorted(each for each in instants if each)
    assert all(instants)


@pytest.mark.parametrize("fault", EVERY, ids=str)
async def test_no_fault_is_proven_where_none_was_injected(reach: Reach, fault: Fault) -> None:
    usual_seconds = await fault.check(reach)
    with pytest.raises(NotSeen):
        await fault.prove(reach, usual_seconds)


async def test_a_group_has_landed_only_when_every_link_shows_it(reach: Reach) -> None:
    assert reach.network
    await reach.network.cut("pg-a")
    with pytest.raises(NotSeen):
        await Cut("pg").prove(reach, 0.0)
    await reach.network.cut("pg-b")
    assert (await Cut("pg").prove(reach, 0.0)).count("refused") == 2


async def test_a_latency_below_the_usual_round_trip_proves_nothing(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Latency("redis", ms=30))], reach):
        with pytest.raises(NotSeen, match="cannot be told"):
            await Latency("redis", ms=30).prove(reach, usual_seconds=0.05)


async def test_a_link_that_does_not_answer_is_unwell(reach: Reach) -> None:
    assert reach.network
    await reach.network.cut("redis-a")
    with pytest.raises(Unwell, match=r"link redis-a .* was refused"):
        await Latency("redis", ms=30).check(reach)


async def test_an_existing_session_feels_a_latency_and_survives_its_healing(reach: Reach) -> None:
    link = reach.links["redis-a"]
    reader, writer = await asyncio.open_connection(link.host, link.port)
    try:
        async with Nemesis([throughout(inject=Latency("redis", ms=80))], reach):
            assert await _ping(reader, writer) >= 0.079
        assert await _ping(reader, writer) < 0.08
    finally:
        writer.close()


async def _ping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> float:
    started = asyncio.get_running_loop().time()
    writer.write(b"PING\r\n")
    async with asyncio.timeout(5.0):
        assert (await reader.readline()).startswith((b"+PONG", b"-NOAUTH"))
    return asyncio.get_running_loop().time() - started
