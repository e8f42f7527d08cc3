"""A season is many turns in one lab: none of them leaves anything behind for the next."""

from __future__ import annotations

import io
import json
import re
import urllib.request
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psutil
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from chaos.faults import Latency, at, when
from checker.assumptions import happened, in_flight_together, landed
from checker.verdict import Judgement
from lastseat import postgres_server
from lastseat import season as seasons
from lastseat.docket import Season, Setting, Turn
from lastseat.lab import Lab
from lastseat.live import Plain
from lastseat.options import Until
from lastseat.playing import needless
from lastseat.request import Servers
from lastseat.season import play_season
from scenarios import registry
from scenarios.arrivals import poisson, steady

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(120)

BRIEF = replace(
    registry.find("redis_outage"),
    crowd=replace(registry.find("redis_outage").crowd, arrivals=steady(rate=40, seconds=1.0)),
    faults=(at(seconds=0.2, inject=Latency("pg-a", ms=5), heal_after=0.4),),
    assumptions=(landed("latency"), happened("hold:ok")),
)
"""A second of load with a fault, so that links are made."""
SILENT = Setting(servers=Servers(), summary=lambda _judged: "", drawn=False)


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


async def test_after_each_turn_the_lab_is_as_it_was(tmp_path: Path, labs: list[Lab]) -> None:
    seen: list[Standing] = []

    def looking(_season: Season, _turn: Turn) -> bool:
        """Asked between two turns, when the first of them has its verdict."""
        if labs:
            seen.append(standing(labs[-1]))
        return False

    turn = Turn(scenario=BRIEF, seed=1, mutant=None, command="", runs=tmp_path, filed="brief")
    season = Season()
    setting = replace(SILENT, needless=looking)
    await play_season((turn,) * 4, setting, season, Plain(Console(quiet=True)))
    assert season.failed == []
    runs = [each.verdict.run for each in season.judged]
    assert len(set(runs)) == 4, "keys hold the run's name"
    links = json.loads((season.judged[0].folder / "scenario.json").read_text())["links"]
    assert list(links) == ["pg-a"]
    assert re.search(
        r"; a new connection is answered after [\d.]+ ms through it, after [\d.]+ ms straight", links["pg-a"]
    )
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
    await play_season((turn,) * 2, SILENT, season, Plain(Console(quiet=True)))
    first, second = (each.folder / "logs" for each in season.judged)
    said = (second / "postgres.log").read_text()
    earlier, later = (each.verdict.run for each in season.judged)
    assert later in said
    assert earlier not in said.replace(later, "")
    assert (second / "toxiproxy.log").stat().st_size < (first / "toxiproxy.log").stat().st_size
    assert (second / "valkey.log").is_file()
    for logs in (first, second):
        assert (logs / "load-0.log").read_text().count("percentiles") == 1, "each has its own load's summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """Who came in a run and when it was broken, in ns after its zero of time."""

    arrivals: tuple[tuple[int, int, str, str], ...]
    faults: tuple[tuple[str, int], ...]


def came(folder: Path) -> Came:
    """Read what a run's own evidence says of its arrivals: what follows the first of each depends on the answers."""
    t0_ns = json.loads((folder / "scenario.json").read_text())["t0_ns"]
    opened: dict[int, dict[str, Any]] = {}
    for row in pq.read_table(folder / "operations.parquet").to_pylist():
        earlier = opened.setdefault(row["arrival"], row)
        if row["intended_ns"] < earlier["intended_ns"]:
            opened[row["arrival"]] = row
    return Came(
        arrivals=tuple(
            (arrival, row["intended_ns"] - t0_ns, row["kind"], row["node"])
            for arrival, row in sorted(opened.items())
        ),
        faults=tuple(
            (row["fault"], row["planned_ns"] - t0_ns)
            for row in pq.read_table(folder / "faults.parquet").to_pylist()
        ),
    )


async def test_a_seed_has_the_same_buyers_come_again_at_the_same_times(tmp_path: Path) -> None:
    drawn = replace(BRIEF, crowd=replace(BRIEF.crowd, arrivals=poisson(rate=60, seconds=1.0)))
    turns = tuple(
        Turn(scenario=drawn, seed=seed, mutant=None, command="", runs=tmp_path, filed="drawn")
        for seed in (7, 7, 8)
    )
    season = Season()
    await play_season(turns, SILENT, season, Plain(Console(quiet=True)))
    assert season.failed == []
    once, again, other = (came(each.folder) for each in season.judged)
    assert len(once.arrivals) > 20
    assert once == again
    assert {kind for _, _, kind, _ in once.arrivals} == {"hold"}
    assert once.faults == other.faults == ((BRIEF.faults[0].name, 200_000_000),)
    assert once.arrivals != other.arrivals


async def test_a_season_leaves_out_the_repeats_of_what_has_come_to_its_end(tmp_path: Path) -> None:
    calm = replace(BRIEF, faults=(), invariants=("never_oversold",), assumptions=(happened("hold:ok"),))
    crowded = replace(calm, assumptions=(in_flight_together(at_least=10_000),))
    once = tuple(
        Turn(scenario=scenario, seed=1, mutant=None, command="", runs=tmp_path, filed=filed)
        for scenario, filed in ((crowded, "crowded"), (calm, "calm"))
    )
    season = Season()
    setting = replace(SILENT, needless=needless(Until.INCONCLUSIVE))
    await play_season(once * 2, setting, season, Plain(Console(quiet=True)))
    ended = [(each.turn.filed, each.verdict.judgement) for each in season.judged]
    assert ended == [
        ("crowded", Judgement.UNKNOWN),
        ("calm", Judgement.VALID),
        ("calm", Judgement.VALID),
    ]


async def test_a_fault_can_wait_until_half_of_the_capacity_is_sold(tmp_path: Path) -> None:
    half = when("sold", at_least=0.5, inject=Latency("pg-a", ms=150), heal_after=0.5)
    sold = replace(BRIEF, sale=replace(BRIEF.sale, resources=1, capacity=20), faults=(half,))
    turn = Turn(scenario=sold, seed=1, mutant=None, command="", runs=tmp_path, filed="sold")
    season = Season()
    await play_season((turn,), SILENT, season, Plain(Console(quiet=True)))
    (judged,) = season.judged
    (fault,) = pq.read_table(judged.folder / "faults.parquet").to_pylist()
    assert (fault["fault"], fault["error"]) == ("latency:pg-a=150ms@sold=50%+0.5s", None)
    taken = [
        row["sent_ns"]
        for row in pq.read_table(judged.folder / "operations.parquet").to_pylist()
        if (row["kind"], row["outcome"]) == ("hold", "ok")
    ]
    assert sum(sent_ns < fault["planned_ns"] for sent_ns in taken) >= 10


async def test_without_logical_decoding_what_needs_no_trail_is_judged_and_the_rest_says_why(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_server._SETTINGS, "wal_level", "replica")
    said = io.StringIO()
    turn = Turn(scenario=BRIEF, seed=1, mutant=None, command="", runs=tmp_path, filed="brief")
    season = Season()
    async with Lab.start(folder=tmp_path_factory.mktemp("theirs"), with_toxiproxy=False) as theirs:
        setting = replace(SILENT, servers=Servers(database_url=theirs.postgres.admin_dsn))
        await play_season((turn,), setting, season, Plain(Console(file=said)))
    assert season.failed == []
    assert (
        "has wal_level = replica: without a trail of its changes, most invariants stay unknown"
        in said.getvalue()
    )
    verdict = season.judged[0].verdict
    assert verdict.judgement is Judgement.UNKNOWN
    assert any("no trail, because wal_level is replica, not logical" in reason for reason in verdict.reasons)
    found = {finding.invariant: finding for finding in verdict.findings}
    assert found["errors_are_earned"].judgement is Judgement.VALID
    assert found["nothing_left_behind"].judgement is Judgement.VALID
    assert found["never_oversold"].judgement is Judgement.UNKNOWN
    assert "no trail was recorded" in str(found["never_oversold"].reason)
    assert Judgement.INVALID not in {finding.judgement for finding in verdict.findings}
