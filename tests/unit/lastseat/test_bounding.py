"""What hangs is told with its phase, and nothing that swallows its cancellation is waited for without a bound."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from chaos import course, nemesis
from chaos.fault import Reach
from chaos.faults import Latency
from chaos.schedule import throughout
from lastseat import bounding, season, sessions
from lastseat.ahead import Ahead
from lastseat.bounding import Hung, Phases, turn_seconds, within
from lastseat.docket import Season, Setting, Turn
from lastseat.errors import ExitCode, LabError
from lastseat.live import Plain
from lastseat.request import Servers
from lastseat.waiting import call_off
from scenarios import registry, seat
from scenarios.arrivals import steady

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lastseat.course import Course
    from lastseat.live import Progress
    from lastseat.run import Played

STORY = registry.find("last_seat_race")
BOUND_SECONDS = 10.0
"""What the tests below give up after; all of them take a moment where nothing hangs."""


class Stubborn:
    """Swallows every cancellation until it is let go, as a client does that takes it for its own timeout."""

    def __init__(self) -> None:
        self._free = asyncio.Event()

    async def work(self) -> str:
        while not self._free.is_set():
            try:
                await self._free.wait()
            except asyncio.CancelledError:
                continue
        return "done at last"

    async def let_go(self) -> None:
        self._free.set()
        await asyncio.sleep(0)


def phases() -> Phases:
    return Phases(Plain(Console(quiet=True)))


async def test_what_is_done_in_time_is_returned_and_what_it_raises_is_raised() -> None:
    async def fails() -> None:
        raise KeyError("mine")

    assert await within(asyncio.sleep(0, "done"), seconds=5, phases=phases(), name="n", where="w") == "done"
    with pytest.raises(KeyError, match="mine"):
        await within(fails(), seconds=5, phases=phases(), name="n", where="w")


async def test_a_turn_that_hangs_is_told_with_its_phase() -> None:
    telling = phases()

    async def hangs() -> None:
        telling.phase("settling")
        await asyncio.Event().wait()

    with pytest.raises(
        LabError, match=r"rush was not done within 0\.1 s; it hung in this phase: settling"
    ) as told:
        await within(hangs(), seconds=0.1, phases=telling, name="rush", where="runs/rush/1")
    assert not isinstance(told.value, Hung)
    assert "runs/rush/1" in str(told.value)


async def test_one_that_does_not_even_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounding, "END_SECONDS", 0.1)
    stubborn = Stubborn()
    async with asyncio.timeout(BOUND_SECONDS):
        with pytest.raises(Hung, match="did not end when told to"):
            await within(stubborn.work(), seconds=0.1, phases=phases(), name="n", where="w")
    await stubborn.let_go()


async def test_ctrl_c_lets_a_turn_heal_before_it_goes_on() -> None:
    healed = asyncio.Event()
    begun = asyncio.Event()

    async def heals() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            healed.set()

    turn = asyncio.create_task(within(heals(), seconds=60, phases=phases(), name="n", where="w"))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert healed.is_set()


def test_a_longer_load_and_a_later_fault_may_take_longer() -> None:
    outage = registry.find("redis_outage")
    longer = replace(outage, crowd=replace(outage.crowd, arrivals=steady(rate=10, seconds=3_600)))
    assert turn_seconds(longer, 1) > 3_600 + turn_seconds(replace(outage, faults=()), 1) / 2
    assert turn_seconds(outage, 1) > turn_seconds(replace(outage, faults=()), 1)


async def test_a_turn_of_a_season_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def hangs(_course: Course, _template: str, _ahead: Ahead, progress: Progress) -> Played:
        progress.phase("the crowd comes")
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(season, "play", hangs)
    monkeypatch.setattr(season, "turn_seconds", lambda _scenario, _seed: 0.1)
    played = cast("Any", SimpleNamespace(scenario=STORY, seed=1, folder=tmp_path))
    turn = Turn(scenario=STORY, seed=1, mutant=None, command="", runs=tmp_path, filed="s")
    ahead = Ahead(cast("Any", None))
    async with asyncio.timeout(BOUND_SECONDS):
        with pytest.raises(LabError, match="it hung in this phase: the crowd comes"):
            await season._recorded(turn, played, "template", ahead, Plain(Console(quiet=True)))


async def test_no_end_of_tasks_is_waited_for_without_a_bound() -> None:
    stubborn = Stubborn()
    task = asyncio.create_task(stubborn.work())
    await asyncio.sleep(0)
    async with asyncio.timeout(BOUND_SECONDS):
        await call_off({task}, within_seconds=0.05)
    assert not task.done()
    await stubborn.let_go()
    await call_off((), within_seconds=0.05)


async def test_a_session_whose_question_does_not_end_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CLOSE_SECONDS", 0.05)
    stubborn = Stubborn()
    session = sessions.Session(stubborn.work, lambda: None)
    assert await session.hear(0.05) == ""
    async with asyncio.timeout(BOUND_SECONDS):
        await session.close()
    await stubborn.let_go()


async def test_a_load_process_that_is_listened_to_for_ever_holds_nobody_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seat, "_END_SECONDS", 0.05)
    stubborn = Stubborn()
    monkeypatch.setattr(seat, "_listen", lambda _seat, _silence: stubborn.work())
    async with asyncio.timeout(BOUND_SECONDS):
        async with seat.listened_to([cast("Any", None)], 1.0):
            await asyncio.sleep(0)
    await stubborn.let_go()


async def test_a_fault_whose_player_does_not_end_holds_no_healing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nemesis, "_PLAYERS_SECONDS", 0.05)
    stubborn = Stubborn()
    task = asyncio.create_task(stubborn.work())
    await asyncio.sleep(0)
    async with asyncio.timeout(BOUND_SECONDS):
        async with nemesis.Nemesis((), Reach()) as playing:
            playing._players.add(task)
    await stubborn.let_go()


async def test_a_proof_that_does_not_end_holds_no_healing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "_END_SECONDS", 0.05)
    stubborn = Stubborn()
    proving = course.Course(throughout(inject=Latency("pg", ms=5)), Reach(), "f1.")
    proving._watching = cast("Any", asyncio.create_task(stubborn.work()))
    await asyncio.sleep(0)
    async with asyncio.timeout(BOUND_SECONDS):
        await proving._last_look()
    await stubborn.let_go()


async def test_a_turn_that_holds_on_to_the_lab_ends_the_season(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @asynccontextmanager
    async def lab(*_anything: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(folder=tmp_path, ports=set(), environment_marker="m" * 8)

    async def template(_lab: object) -> str:
        return "template"

    async def hung(*_anything: object) -> None:
        raise Hung("it did not end")

    monkeypatch.setattr(season, "_lab", lab)
    monkeypatch.setattr(season, "_template", template)
    monkeypatch.setattr(season, "_recorded", hung)
    turn = Turn(scenario=STORY, seed=1, mutant=None, command="", runs=tmp_path / "runs", filed="s")
    setting = Setting(servers=Servers(), summary=lambda _judged: "", drawn=False)
    played = Season()
    await season.play_season((turn,) * 3, setting, played, Plain(Console(quiet=True)))
    assert [str(each) for each in played.failed] == ["it did not end"]
    assert len(played.unplayed) == 3
    assert played.code is ExitCode.LAB_FAILED
    assert len(list((tmp_path / "runs" / "s").iterdir())) == 1
