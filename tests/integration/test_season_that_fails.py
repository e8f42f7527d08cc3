"""A turn of a season that fails, at its end or while its service comes up, takes nothing from the turn after it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from rich.console import Console

from chaos.faults import CrashAt, Cut, at, throughout
from checker.assumptions import happened, landed
from lastseat import season as seasons
from lastseat.docket import Season, Setting, Turn
from lastseat.errors import LabError
from lastseat.live import Plain
from lastseat.request import Servers
from lastseat.season import play_season
from scenarios import registry
from scenarios.arrivals import steady

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.course import Course
    from lastseat.lab import Lab

pytestmark = pytest.mark.timeout(120)

SETTING = Setting(servers=Servers(), summary=lambda _judged: "", drawn=False)
STORY = registry.find("worker_crash")
BRIEF = replace(
    STORY,
    crowd=replace(STORY.crowd, arrivals=steady(rate=40, seconds=1.0)),
    faults=(
        at(seconds=0.2, inject=Cut("pg-a"), heal_after=0.3),
        at(seconds=0.2, inject=Cut("pg-workers"), heal_after=0.3),
        at(seconds=0.2, inject=Cut("notification"), heal_after=0.3),
    ),
    assumptions=(landed("cut"), happened("hold:ok")),
)
"""A second of load with workers, and with links that nodes and workers have laid."""
NEVER_UP = replace(
    BRIEF,
    faults=(
        *BRIEF.faults,
        throughout(inject=CrashAt("node-a", "service.health:Health.ready:before:1")),
    ),
    assumptions=(*BRIEF.assumptions, landed("crash_at")),
)
"""The same, but that one node ends when it is first asked whether it is ready: beside workers that are coming up."""


def turn(scenario: Any, runs: Path) -> Turn:
    return Turn(scenario=scenario, seed=1, mutant=None, command="", runs=runs, filed="brief")


async def test_what_was_made_ahead_is_taken_though_the_turn_that_made_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labs: list[Lab]
) -> None:
    told = seasons.brief
    calls: list[Course] = []

    async def once(course: Course, *about: Any, **more: Any) -> None:
        calls.append(course)
        if len(calls) == 1:
            raise LabError("the first turn is broken at its end")
        await told(course, *about, **more)

    monkeypatch.setattr(seasons, "brief", once)
    season = Season()
    await play_season((turn(BRIEF, tmp_path),) * 2, SETTING, season, Plain(Console(quiet=True)))
    assert [str(each).partition(":")[0] for each in season.failed] == ["the first turn is broken at its end"]
    assert [each.verdict.run for each in season.judged] == [calls[1].name]
    assert calls[0].next_name == calls[1].name
    assert calls[1].next_name is None
    assert not psutil.pid_exists(labs[0].supervision.process.pid)


async def test_a_service_that_does_not_come_up_leaves_its_links_and_processes_to_nobody(
    tmp_path: Path, labs: list[Lab]
) -> None:
    season = Season()
    planned = (turn(NEVER_UP, tmp_path), turn(BRIEF, tmp_path))
    await play_season(planned, SETTING, season, Plain(Console(quiet=True)))
    (failed,) = season.failed
    assert "node-a ended while starting" in str(failed)
    (judged,) = season.judged
    assert judged.turn.scenario is BRIEF, "links of the same names could be laid again"
    assert len(set(map(id, labs))) == 1
