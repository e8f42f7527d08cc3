"""Every fault of the network lands on real servers, shows itself to a probe, and heals."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets

import pytest

from chaos.faults import (
    KINDS,
    Bandwidth,
    Blackhole,
    Cut,
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
from chaos.link_faults import LinkFault
from chaos.nemesis import Nemesis, Unavailable
from chaos.probes import ask, speech_behind

SERVERS = ("pg-a", "redis-a", "edge-a", "notification")


def faults(where: str) -> list[LinkFault]:
    """Each kind in each of its ways."""
    each: list[LinkFault] = [
        Bandwidth(where, kilobytes_per_second=20),
        Bandwidth(where, kilobytes_per_second=64),
        Bandwidth(where, kilobytes_per_second=0),
        Blackhole(where),
        Cut(where),
        Latency(where, ms=80),
        Latency(where, ms=80, jitter_ms=20),
        LimitData(where, limit_bytes=0),
        LimitData(where, limit_bytes=60),
        LimitData(where, limit_bytes=1_000),
        LostReply(where),
        Reset(where),
        Reset(where, after_ms=50),
        Slicer(where, size_bytes=16, pause_us=20_000),
        Slicer(where, size_bytes=512, pause_us=2_000),
        SlowClose(where, ms=200),
    ]
    return [dataclasses.replace(fault, stream=way) for fault in each for way in fault.ways]


EVERY = [fault for where in SERVERS for fault in faults(where)] + [
    Cut("pg-workers"),
    Latency("pg-workers", ms=80),
    LimitData("pg-workers", limit_bytes=60, stream="upstream"),
]


def test_every_kind_is_here_in_every_way() -> None:
    ways = {
        (kind, way) for kind, fault in KINDS.items() if issubclass(fault, LinkFault) for way in fault.ways
    }
    for where in SERVERS:
        assert {(fault.kind, fault.stream) for fault in EVERY if fault.where == where} == ways


@pytest.mark.parametrize("fault", EVERY, ids=str)
async def test_a_fault_lands_shows_itself_and_heals(crew: Reach, fault: LinkFault) -> None:
    async with Nemesis([throughout(inject=fault)], crew) as nemesis:
        (record,) = nemesis.records
        assert (record.error, record.healed_ns) == (None, None)
        assert record.proof
        assert record.proof.startswith(f"{fault.where}: ")
    assert record.error is None
    instants = [record.planned_ns, record.injected_ns, record.landed_ns, record.healed_ns]
    assert [each for each in instants if each] == sorted(each for each in instants if each)
    assert all(instants)


@pytest.mark.parametrize("fault", EVERY, ids=str)
async def test_no_fault_is_proven_where_none_was_injected(crew: Reach, fault: LinkFault) -> None:
    usual_seconds = await fault.check(crew)
    with pytest.raises(NotSeen):
        await fault.prove(crew, usual_seconds)


ENDINGS = [
    LostReply("redis-a"),
    LimitData("redis-a", limit_bytes=0),
    LimitData("redis-a", limit_bytes=60, stream="upstream"),
    Reset("redis-a"),
    Reset("redis-a", stream="upstream"),
]


@pytest.mark.parametrize("fault", ENDINGS, ids=str)
async def test_the_end_that_a_dead_server_makes_is_no_fault_of_the_link(
    reach: Reach, fault: LinkFault
) -> None:
    assert reach.network
    name = f"redis-dead-{secrets.token_hex(3)}"
    dead = await reach.network.create(name, "127.0.0.1:1")
    try:
        for _ in range(5):  # the proxy ends such a connection in more ways than one
            with pytest.raises(NotSeen):
                await fault.prove(Reach(network=reach.network, links={"redis-a": dead}), 0.001)
    finally:
        await reach.network.delete(name)


async def test_what_a_provider_says_of_itself_is_no_limit(crew: Reach) -> None:
    """It closes after one answer: of just that length, or shorter than the limit, the naive probe took that for one."""
    link = crew.links["notification"]
    said = await ask(link, speech_behind(link.name).parting, within_seconds=5)
    assert said.ending == "ended"
    for limit_bytes in (said.received_bytes, said.received_bytes + 1, 14_999):
        with pytest.raises(NotSeen):
            await LimitData("notification", limit_bytes=limit_bytes).prove(crew, 0.001)


@pytest.mark.parametrize(
    "fault",
    [
        LimitData("pg-a", limit_bytes=8_999),
        LimitData("pg-a", limit_bytes=8_999, stream="upstream"),
        LimitData("redis-a", limit_bytes=8_999),
        LimitData("redis-a", limit_bytes=59_999, stream="upstream"),
        LimitData("edge-a", limit_bytes=100_000),
        LimitData("edge-a", limit_bytes=59_999, stream="upstream"),
        LimitData("notification", limit_bytes=14_999),
        LimitData("notification", limit_bytes=100_000, stream="upstream"),
    ],
    ids=str,
)
async def test_a_large_limit_is_shown_too_and_only_where_it_is(crew: Reach, fault: LinkFault) -> None:
    usual_seconds = await fault.check(crew)
    with pytest.raises(NotSeen, match="was answered"):
        await fault.prove(crew, usual_seconds)
    async with Nemesis([throughout(inject=fault)], crew) as nemesis:
        assert nemesis.records[0].proof
    assert nemesis.records[0].error is None


async def test_a_limit_that_no_probe_can_pass_is_not_offered(crew: Reach) -> None:
    with pytest.raises(
        Unavailable, match="could not be shown: a probe there has at most 9000 bytes pass downstream"
    ):
        async with Nemesis([throughout(inject=LimitData("pg", limit_bytes=9_000))], crew):
            pass


async def test_a_limit_is_not_taken_for_another(reach: Reach) -> None:
    async with Nemesis([throughout(inject=LimitData("redis", limit_bytes=60))], reach):
        with pytest.raises(NotSeen, match="with 60 bytes, not with 61"):
            await LimitData("redis", limit_bytes=61).prove(reach, 0.001)


async def test_a_reset_that_comes_too_early_is_another(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Reset("redis"))], reach):
        with pytest.raises(NotSeen, match="was reset after"):
            await Reset("redis", after_ms=1_000).prove(reach, 0.001)


async def test_a_slow_close_towards_the_server_does_not_show_at_the_client(reach: Reach) -> None:
    async with Nemesis([throughout(inject=SlowClose("redis", ms=300, stream="upstream"))], reach):
        with pytest.raises(NotSeen):
            await SlowClose("redis", ms=300).prove(reach, 0.001)
        with pytest.raises(NotSeen):
            await SlowClose("redis", ms=300, stream="both").prove(reach, 0.001)


async def test_a_close_slower_by_less_than_the_usual_round_trip_proves_nothing(reach: Reach) -> None:
    with pytest.raises(NotSeen, match="cannot be told"):
        await SlowClose("redis", ms=1).prove(reach, usual_seconds=0.005)


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
