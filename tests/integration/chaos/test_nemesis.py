"""The nemesis keeps to its schedule, heals on every way out, and says what became of each fault."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import pytest

from chaos.faults import Blackhole, Cut, Latency, Reach, Slicer, Unwell, at, throughout
from chaos.nemesis import FaultRecord, Nemesis, Unavailable
from chaos.network import Network, NetworkError
from checker.schemas import FAULTS

if TYPE_CHECKING:
    from chaos.network import Link


def test_a_record_has_the_fields_of_the_evidence() -> None:
    assert list(FaultRecord.__struct_fields__) == FAULTS.names


async def broken(reach: Reach) -> dict[str, Link]:
    """The links that are cut or poisoned now."""
    assert reach.network
    links = await reach.network.links()
    return {
        name: link
        for name, link in links.items()
        if name in reach.links and (link.toxics or not link.enabled)
    }


async def test_timed_faults_are_played_against_t0(reach: Reach) -> None:
    schedule = [
        at(seconds=0.1, inject=Cut("redis"), heal_after=0.4),
        at(seconds=0.3, inject=Latency("pg", ms=60), heal_after=0.4),
    ]
    t0_ns = time.monotonic_ns() + 200_000_000
    async with Nemesis(schedule, reach) as nemesis:
        await nemesis.play(t0_ns)
        assert await broken(reach) == {}
    for planned, record in zip(schedule, nemesis.records, strict=True):
        assert record.error is None
        assert record.planned_ns == t0_ns + int(planned.seconds * 1e9)
        assert record.injected_ns
        assert record.healed_ns
        assert record.planned_ns <= record.injected_ns < record.healed_ns
        assert record.healed_ns >= t0_ns + int(planned.ends * 1e9)
        assert record.landed_ns
        assert record.landed_ns < record.healed_ns


async def test_a_fault_throughout_holds_from_entry_to_exit(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Latency("pg", ms=50))], reach) as nemesis:
        await nemesis.play(time.monotonic_ns())
        assert set(await broken(reach)) == {"pg-a", "pg-b"}
    assert await broken(reach) == {}


async def test_a_cancelled_run_is_healed(reach: Reach) -> None:
    async def run() -> None:
        async with Nemesis(
            [throughout(inject=Latency("pg", ms=50)), at(seconds=0, inject=Cut("redis"), heal_after=60)],
            reach,
        ) as nemesis:
            landed.set_result(nemesis)
            await nemesis.play(time.monotonic_ns())

    landed: asyncio.Future[Nemesis] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(run())
    nemesis = await landed
    async with asyncio.timeout(10):
        while not nemesis.records[1].landed_ns:  # noqa: ASYNC110 - a record, polled under a deadline
            await asyncio.sleep(0.01)
    assert set(await broken(reach)) == {"pg-a", "pg-b", "redis-a"}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await broken(reach) == {}
    assert all(record.healed_ns for record in nemesis.records)


async def test_an_error_of_the_load_is_healed(reach: Reach) -> None:
    async def run() -> None:
        async with Nemesis([throughout(inject=Blackhole("redis"))], reach):
            assert await broken(reach)
            raise RuntimeError("the load fell over")

    with pytest.raises(RuntimeError, match="the load fell over"):
        await run()
    assert await broken(reach) == {}


async def test_no_fault_comes_after_the_healing_when_nobody_awaits_the_play(reach: Reach) -> None:
    schedule = [
        at(seconds=0, inject=Cut("redis"), heal_after=60),
        at(seconds=0.5, inject=Latency("pg", ms=50), heal_after=60),
    ]

    async def run(nemesis: Nemesis) -> None:
        async with nemesis:
            playing.append(asyncio.create_task(nemesis.play(time.monotonic_ns())))
            await asyncio.wait(playing, timeout=0.2)
            raise RuntimeError("the load fell over")

    playing: list[asyncio.Task[None]] = []
    nemesis = Nemesis(schedule, reach)
    with pytest.raises(RuntimeError, match="the load fell over"):
        await run(nemesis)
    assert playing[0].cancelled()
    cut, late = nemesis.records
    assert cut.healed_ns
    assert late.injected_ns is None
    assert await broken(reach) == {}


@pytest.mark.parametrize("cancellations", [1, 2])
async def test_a_cancellation_during_injection_leaves_nothing(reach: Reach, cancellations: int) -> None:
    async def enter() -> None:
        async with Nemesis([throughout(inject=Latency("pg", ms=50, stream="both"))], reach):
            await asyncio.Event().wait()

    for after_ms in range(0, 60, 2):
        entering = asyncio.create_task(enter())
        for _ in range(cancellations):
            await asyncio.wait([entering], timeout=after_ms / 1_000)
            entering.cancel()
        await asyncio.wait([entering], timeout=20)
        assert entering.cancelled()
        assert await broken(reach) == {}


async def test_a_cancellation_during_the_healing_does_not_stop_it(reach: Reach) -> None:
    async def run() -> None:
        async with Nemesis([throughout(inject=Latency("pg", ms=20, stream="both"))], reach):
            landed.set()
            await over.wait()

    for after_ms in range(0, 20, 2):
        landed, over = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(run())
        async with asyncio.timeout(10):
            await landed.wait()
        over.set()
        await asyncio.wait([running], timeout=after_ms / 1_000)
        running.cancel()
        await asyncio.wait([running], timeout=20)
        assert running.done()
        assert await broken(reach) == {}


async def test_what_does_not_answer_is_not_broken_further(reach: Reach) -> None:
    assert reach.network
    await reach.network.cut("redis-a")
    with pytest.raises(Unwell, match="redis-a"):
        async with Nemesis([throughout(inject=Latency("redis", ms=50))], reach):
            pass
    assert not (await broken(reach))["redis-a"].toxics


async def test_a_fault_that_the_lab_does_not_offer_is_refused(reach: Reach) -> None:
    with pytest.raises(
        Unavailable, match=r"latency:payment=50ms needs a proxied link 'payment'; there are: pg-a"
    ):
        async with Nemesis([throughout(inject=Latency("payment", ms=50))], reach):
            pass


async def test_a_schedule_that_contradicts_itself_is_refused(reach: Reach) -> None:
    twice = at(seconds=1, inject=Cut("redis"), heal_after=1)
    with pytest.raises(ValueError, match="twice"):
        Nemesis([twice, twice], reach)
    with pytest.raises(ValueError, match="at the same time"):
        Nemesis([twice, at(seconds=1.5, inject=Cut("redis-a"), heal_after=1)], reach)


async def test_two_faults_on_one_link_are_healed_apart(reach: Reach) -> None:
    schedule = [
        throughout(inject=Latency("redis", ms=40)),
        at(seconds=0, inject=Cut("redis"), heal_after=0.3),
    ]
    async with Nemesis(schedule, reach) as nemesis:
        await nemesis.play(time.monotonic_ns())
        assert [len(link.toxics) for link in (await broken(reach)).values()] == [1]
    assert [record.error for record in nemesis.records] == [None, None]


async def test_a_fault_that_is_healed_before_it_was_seen_did_not_land(reach: Reach) -> None:
    slices = Slicer("redis", size_bytes=16, pause_us=100_000)  # three looks at them take three pauses
    schedule = [at(seconds=0, inject=slices, heal_after=0.1)]
    async with Nemesis(schedule, reach) as nemesis:
        await nemesis.play(time.monotonic_ns())
    (record,) = nemesis.records
    assert (record.landed_ns, record.proof) == (None, None)
    assert record.injected_ns
    assert record.healed_ns
    assert record.error == "not proven: no time was left to look"


@dataclass(frozen=True, slots=True)
class Misspelt(Latency):
    """A fault whose proxy takes its attributes otherwise than meant."""

    async def inject(self, reach: Reach, tag: str) -> None:
        assert reach.network
        await reach.network.add(
            "redis-a", msgspec.structs.replace(self.toxic(tag, "downstream"), attributes={"latancy": 50})
        )


async def test_a_fault_that_cannot_be_injected_says_so(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Misspelt("redis", ms=50))], reach) as nemesis:
        (record,) = nemesis.records
        assert record.error
        assert "a misspelt attribute?" in record.error
        assert (record.injected_ns, record.landed_ns) == (None, None)
        assert await broken(reach) == {}


@dataclass(frozen=True, slots=True)
class Stubborn(Latency):
    """A fault that cannot be healed by itself."""

    async def heal(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - it never comes to that
        raise NetworkError("the proxy server does not listen")


async def test_what_cannot_be_healed_singly_is_reset(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Stubborn("redis", ms=50))], reach) as nemesis:
        assert await broken(reach)
    assert await broken(reach) == {}
    assert nemesis.records[0].error == "not healed: the proxy server does not listen"


async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(NetworkError, match=r"GET /version at 127\.0\.0\.1:1 failed"):
        await Network("127.0.0.1", 1).version()


async def test_networks_of_one_process_keep_their_servers_apart(reach: Reach) -> None:
    assert reach.network
    Network("127.0.0.1", 1)
    assert await reach.network.version()
