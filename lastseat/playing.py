"""Plays what was asked for in one lab, judges each run, and says how it ended."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg
from redis.exceptions import RedisError

from chaos.fault import Unwell
from chaos.nemesis import Contradiction, Unavailable
from chaos.network import NetworkError
from checker.seal import seal
from checker.trail import DecodeError, SpoolError, TrailError
from checker.verdict import Judgement, outrank
from lastseat import folder as folders
from lastseat.briefing import brief
from lastseat.console import say_error, screen
from lastseat.drawing import Drawing
from lastseat.errors import ExitCode, LabError, UsageError
from lastseat.interruptible import run
from lastseat.lab import Lab
from lastseat.live import progress
from lastseat.nodes import Deployer
from lastseat.rejudging import EXIT_CODES, judged, write_verdict
from lastseat.run import Course, play
from lastseat.wishes import found
from reports.github import annotate
from reports.terminal import Outcome, print_closing, print_verdict, summary
from scenarios import history
from scenarios.load import LoadError
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from checker.verdict import Verdict
    from lastseat.live import Progress
    from lastseat.request import Request
    from scenarios.scenario import Scenario

TEMPLATE = "lastseat_template"

BREAKS = (
    LoadError,
    TargetError,
    TrailError,
    SpoolError,
    DecodeError,
    NetworkError,
    Unavailable,
    Unwell,
    history.JournalUnreadable,
    TimeoutError,
    ConnectionError,
    RedisError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
"""What a run can meet when a part of its lab goes away under it: no mistake of the bench, and told in a sentence."""


@dataclass(slots=True)
class Season:
    """What became of the scenarios so far: those that were judged, and those that could not be played to their end."""

    judged: list[tuple[Path, Outcome]] = field(default_factory=list)
    failed: list[LabError] = field(default_factory=list)

    @property
    def code(self) -> ExitCode:
        """The exit code: a violation outranks a failure, a failure any other verdict."""
        worst = outrank(outcome.verdict.judgement for _, outcome in self.judged)
        if self.failed and worst is not Judgement.INVALID:
            return ExitCode.LAB_FAILED
        return EXIT_CODES[worst]


def play_all(request: Request) -> ExitCode:
    """Play the scenarios asked for one after another in one lab; what was judged is told, whatever came after it."""
    console = screen()
    season = Season()
    try:
        with progress(console) as telling:
            run(_play_all(request, season, telling))
    except LabError as broken:
        season.failed.append(broken)
    finally:
        _tell(season, console)
    return season.code


def _tell(season: Season, console: Console) -> None:
    several = len(season.judged) > 1
    for folder, outcome in season.judged:
        if not several or outcome.verdict.judgement is not Judgement.VALID:
            print_verdict(outcome.verdict, folder, console)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in annotate(outcome.verdict):
                console.print(line, markup=False, soft_wrap=True)
    if several:
        print_closing([outcome for _, outcome in season.judged], console)
        held = sum(outcome.verdict.judgement is Judgement.VALID for _, outcome in season.judged)
        index = season.judged[0][0].parent.parent / "index.html"
        console.print(f"{held} of {len(season.judged)} held. All runs: {index}", soft_wrap=True, markup=False)
    for broken in season.failed:
        say_error(str(broken))


async def _play_all(request: Request, season: Season, telling: Progress) -> None:
    scenarios = [request.asked(found(name)) for name in request.names]
    folder = folders.create(request.runs, scenarios[0].name)
    async with Drawing.open(folder / "logs" / "drawing.log") as drawing:
        async with _lab(request, scenarios, folder, telling) as lab:
            template = await _template(lab)
            for place, scenario in enumerate(scenarios):
                began = time.monotonic()
                if place > 0:
                    lab.folder = folders.create(request.runs, scenario.name)
                course = _course(request, scenario, lab)
                try:
                    verdict = await _one(request, course, template, telling)
                except LabError as broken:
                    season.failed.append(broken)
                else:
                    drawing.draw(course.folder, request.runs)
                    outcome = Outcome(verdict=verdict, seconds=time.monotonic() - began)
                    season.judged.append((course.folder, outcome))
                    if len(scenarios) > 1:
                        telling.result(f"{place + 1} of {len(scenarios)}  {summary(verdict)}")
        telling.phase("the report" if len(scenarios) == 1 else "the reports")
        for problem in await drawing.finish():
            telling.notice(problem)


@asynccontextmanager
async def _lab(
    request: Request, scenarios: Sequence[Scenario], folder: Path, telling: Progress
) -> AsyncIterator[Lab]:
    """Start the one lab of the season, with a proxy where any scenario breaks a link."""
    proxied = any(scenario.faults for scenario in scenarios)
    telling.phase("the lab: PostgreSQL, Valkey" + (", Toxiproxy" if proxied else ""))
    async with Lab.start(
        folder=folder,
        database_url=request.servers.database_url,
        redis_url=request.servers.redis_url,
        toxiproxy_url=request.servers.toxiproxy_url,
        with_toxiproxy=proxied,
        say=telling.notice,
    ) as lab:
        if lab.proxy is not None and lab.proxy.notice:
            telling.notice(lab.proxy.notice)
        yield lab


def _course(request: Request, scenario: Scenario, lab: Lab) -> Course:
    return Course(
        name=f"{scenario.name}-{lab.environment_marker[:8]}",
        scenario=scenario,
        seed=request.seed,
        target=Builtin(),
        lab=lab,
        folder=lab.folder,
        mutant=request.mutant,
    )


async def _template(lab: Lab) -> str:
    """Make the database that every run's is a copy of."""
    dsn = await lab.create_database(TEMPLATE)
    await Deployer(lab=lab, environment={}).migrate(dsn)
    return TEMPLATE


async def _one(request: Request, course: Course, template: str, telling: Progress) -> Verdict:
    """Play and judge one scenario; raises LabError, naming the folder, when it cannot be played to its end."""
    folder = course.folder
    try:
        played = await play(course, template, telling)
        telling.phase("the verdict")
        history.write_history(folder)
        await brief(course, played, command=request.command(course.scenario.name))
        seal(folder)
    except Contradiction as senseless:
        raise UsageError(
            f"These faults cannot be played together: {senseless}.", remedy="Part their times."
        ) from senseless
    except BREAKS as broken:
        raise LabError(
            f"{course.scenario.name} could not be played to its end: {str(broken) or type(broken).__name__}",
            where=str(folder),
            remedy="its logs/ tell what each process said",
        ) from broken
    verdict = await asyncio.to_thread(judged, folder, request.invariant_folders)
    write_verdict(folder, verdict)
    folders.point_latest(request.runs, folder)
    return verdict
