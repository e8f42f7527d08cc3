"""Load processes that stop, die, fall silent or talk nonsense: the runner always learns of it, and in time."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from scenarios import load as load_module
from scenarios.arrivals import barrier
from scenarios.control import CONTROL_VARIABLE, Hello, line
from scenarios.history import gather
from scenarios.load import Load, LoadError, play
from tests.integration.waiting import until

if TYPE_CHECKING:
    from scenarios.control import Tally

    Stand = Any  # the fixture's class, in conftest.py

pytestmark = pytest.mark.proof

LIFETIME_SECONDS = 86_400.0
"""What waits longer waits for the whole life of a load process."""
# It speaks once and stays: that it is given up is then for what it said, and not because it ended.
TONGUES = f"""
import os, socket, time
control = socket.socket(socket.AF_UNIX)
control.connect(os.environ["{CONTROL_VARIABLE}"])
control.sendall(b'{{"type":"hello","shard":0,"pid":1}}\\nwhat?\\n')
time.sleep(60)
"""


async def test_a_load_process_that_falls_silent_is_given_up(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "SILENCE_SECONDS", 1.5)
    stand.office.behave = lambda _path, _key: "silence"
    with pytest.raises(LoadError, match=r"load process 0 has said nothing for 1\.5 s"):
        async with Load(stand.spawn) as load:
            await load.play(
                stand.plan(), within_seconds=30, on_zero=lambda _t0: stand.children[0].signal(signal.SIGSTOP)
            )
    assert await stand.children[0].wait(5) == -signal.SIGKILL, "one that is stopped does not end by itself"


async def test_a_load_process_that_works_for_longer_than_that_is_not_silent(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "SILENCE_SECONDS", 1.5)
    stand.office.behave = lambda _path, _key: "silence"
    summary = await play(stand.plan(resources=1, deadline_seconds=4.0), stand.spawn, within_seconds=30)
    assert summary.tally.info == 10


async def test_the_longest_stop_of_a_load_process_is_told(stand: Stand) -> None:
    stand.office.delay_seconds = 0.2

    def stop(tally: Tally) -> None:
        if tally.done and not stopped:
            stopped.append(True)
            stand.children[0].signal(signal.SIGSTOP)
            asyncio.get_running_loop().call_later(1.0, stand.children[0].signal, signal.SIGCONT)

    stopped: list[bool] = []
    summary = await play(stand.plan(), stand.spawn, within_seconds=30, on_progress=stop)
    assert 0.9e6 < max(reading.lag_max_us for reading in summary.health) < 5e6


async def test_the_last_word_counts_though_its_speaker_has_ended_before_it_was_heard(stand: Stand) -> None:
    """The news of an exit comes by another way than words do, and may overtake them."""

    class Hasty:
        def __init__(self, child: Any) -> None:
            self._child = child

        def __getattr__(self, name: str) -> Any:
            return getattr(self._child, name)

        async def wait(self, within_seconds: float) -> int:
            if within_seconds < LIFETIME_SECONDS:
                return int(await self._child.wait(within_seconds))
            await until(lambda: len(stand.office.keys) == 10, "the tenth hold", within_seconds=20)
            return 0

    async def spawn(role: str, argv: list[str], *, env: dict[str, str]) -> Hasty:
        return Hasty(await stand.spawn(role, argv, env=env))

    stand.office.delay_seconds = 0.5
    summary = await play(stand.plan(resources=1), spawn, within_seconds=30)  # type: ignore[arg-type]  # a test's own way to start a process
    assert summary.tally.done == 10


async def test_a_load_process_that_speaks_in_tongues_is_given_up(stand: Stand) -> None:
    async def spawn(role: str, _argv: object, *, env: dict[str, str]) -> object:
        return await stand.spawn(role, (sys.executable, "-c", TONGUES), env=env)

    with pytest.raises(LoadError, match="load process 0 says what nobody understands"):
        await play(stand.plan(), spawn, within_seconds=30)  # type: ignore[arg-type]  # as above


async def test_a_load_process_that_dies_fails_the_run_and_forgets_nothing(stand: Stand) -> None:
    stand.office.delay_seconds = 0.01
    plan = stand.plan(barrier(400, width=10), resources=400)
    with pytest.raises(LoadError, match="load process 0 ended early, with exit code -9"):
        async with Load(stand.spawn) as load:
            await load.play(
                plan,
                within_seconds=30,
                on_progress=lambda tally: (
                    stand.children[0].signal(signal.SIGKILL) if tally.done > 50 else None
                ),
            )
    sent = {row["key"] for row in gather(stand.folder).to_pylist() if row["sent_ns"] is not None}
    assert len(sent) > 50
    assert set(stand.office.keys) <= sent


async def test_a_load_process_that_cannot_start_fails_with_the_end_of_its_log(stand: Stand) -> None:
    async def broken(role: str, _argv: object, *, env: dict[str, str]) -> object:
        return await stand.spawn(role, ("sh", "-c", "echo no such planet; exit 3"), env=env)

    with pytest.raises(LoadError, match=r"exit code 3\n    no such planet"):
        await play(stand.plan(), broken, within_seconds=30)  # type: ignore[arg-type]  # a test may replace any field or part


async def test_a_load_process_that_nobody_watches_any_more_ends_the_wait_for_it(stand: Stand) -> None:
    class Orphan:
        def __init__(self, child: Any) -> None:
            self._child = child

        def __getattr__(self, name: str) -> Any:
            return getattr(self._child, name)

        async def wait(self, within_seconds: float) -> int:
            raise LookupError(f"the supervisor has gone, not to be asked for {within_seconds:g} s")

    async def spawn(role: str, argv: list[str], *, env: dict[str, str]) -> Orphan:
        return Orphan(await stand.spawn(role, argv, env=env))

    stand.office.behave = lambda _path, _key: "silence"
    with pytest.raises(LoadError, match="load process 0 is lost: the supervisor has gone"):
        await play(stand.plan(), spawn, within_seconds=30)  # type: ignore[arg-type]  # as above


async def test_a_second_claim_of_a_shard_is_shown_the_door(stand: Stand) -> None:
    told: dict[str, str] = {}

    async def spawn(role: str, argv: list[str], *, env: dict[str, str]) -> object:
        told.update(env)
        return await stand.spawn(role, argv, env=env)

    async with Load(spawn) as load:  # type: ignore[arg-type]  # a test's own way to start a process
        await load.play(stand.plan(resources=2), within_seconds=30)
        for shard in (0, 7):
            reader, writer = await asyncio.open_unix_connection(told[CONTROL_VARIABLE])
            writer.write(line(Hello(shard=shard, pid=1)))
            assert await asyncio.wait_for(reader.read(), 5) == b""
            writer.close()


async def test_a_load_that_is_not_done_in_time_is_said_to_be_late(stand: Stand) -> None:
    stand.office.behave = lambda _path, _key: "silence"
    with pytest.raises(LoadError, match=r"load process 0 has not finished within 0\.5 s"):
        await play(stand.plan(), stand.spawn, within_seconds=0.5)


async def test_no_load_process_outlives_its_runner(stand: Stand) -> None:
    stand.office.behave = lambda _path, _key: "silence"
    load = Load(stand.spawn)
    await load.__aenter__()
    playing = asyncio.create_task(load.play(stand.plan(), within_seconds=30))
    await until(lambda: len(stand.office.keys) == 10, "the tenth hold", within_seconds=20)
    playing.cancel()
    await load.__aexit__(None, None, None)
    assert await stand.children[0].wait(5) == 70
