"""A season is many turns in one lab: none of them leaves anything behind for the next."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from rich.console import Console

from chaos.faults import Latency, at
from checker.assumptions import happened, landed
from lastseat import season as seasons
from lastseat.docket import Season, Setting, Turn
from lastseat.live import Plain
from lastseat.request import Servers
from lastseat.season import play_season
from scenarios import registry
from scenarios.arrivals import steady

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.lab import Lab

pytestmark = pytest.mark.timeout(120)

BRIEF = replace(
    registry.find("redis_outage"),
    crowd=replace(registry.find("redis_outage").crowd, arrivals=steady(rate=40, seconds=1.0)),
    faults=(at(seconds=0.2, inject=Latency("pg-a", ms=5), heal_after=0.4),),
    assumptions=(landed("latency"), happened("hold:ok")),
)
"""A second of load with a fault, so that links are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands in a lab between two turns."""

    databases: tuple[str, ...]
    ports: frozenset[int]
    links: tuple[str, ...]
    processes: int


def standing(lab: Lab) -> Standing:
    with urllib.request.urlopen(f"http://{lab.toxiproxy.host}:{lab.toxiproxy.port}/proxies") as answer:
        links = tuple(json.load(answer))
    below = psutil.Process(lab.supervision.process.pid).children()
    return Standing(
        databases=tuple(lab._databases), ports=frozenset(lab.ports), links=links, processes=len(below)
    )


async def test_after_each_turn_the_lab_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labs: list[Lab] = []
    made = seasons._course

    def course(turn: Turn, lab: Lab, place: int, page_port: int | None) -> Any:
        labs.append(lab)
        return made(turn, lab, place, page_port)

    monkeypatch.setattr(seasons, "_course", course)
    seen: list[Standing] = []

    def looking(_season: Season, _turn: Turn) -> bool:
        """Asked between two turns, when the first of them has its verdict."""
        if labs:
            seen.append(standing(labs[-1]))
        return False

    turn = Turn(scenario=BRIEF, seed=1, mutant=None, command="", runs=tmp_path, filed="brief")
    season = Season()
    setting = Setting(servers=Servers(), summary=lambda _judged: "", needless=looking, drawn=False)
    await play_season((turn,) * 4, setting, season, Plain(Console(quiet=True)))
    assert season.failed == []
    runs = [each.verdict.run for each in season.judged]
    assert len(set(runs)) == 4, "keys hold the run's name"
    after_one, after_two, after_three = seen
    assert after_one.links == after_two.links == after_three.links == ()
    assert after_one.ports == after_two.ports == after_three.ports
    assert after_one.processes == after_two.processes == after_three.processes
    for place, between in enumerate(seen):
        assert set(between.databases) <= {seasons.TEMPLATE, runs[place]}, (
            "the last may still be on its way out"
        )


async def test_each_run_folder_holds_what_the_servers_said_during_that_run(tmp_path: Path) -> None:
    turn = Turn(scenario=BRIEF, seed=1, mutant=None, command="", runs=tmp_path, filed="brief")
    season = Season()
    await play_season(
        (turn,) * 2,
        Setting(servers=Servers(), summary=lambda _judged: "", drawn=False),
        season,
        Plain(Console(quiet=True)),
    )
    first, second = (each.folder / "logs" for each in season.judged)
    said = (second / "postgres.log").read_text()
    earlier, later = (each.verdict.run for each in season.judged)
    assert later in said
    assert earlier not in said.replace(later, "")
    assert (second / "toxiproxy.log").stat().st_size < (first / "toxiproxy.log").stat().st_size
    assert (second / "valkey.log").is_file()
