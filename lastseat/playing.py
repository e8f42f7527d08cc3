"""Plays what was asked for in one lab, judges each run, and says how it ended."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

import reports
from chaos.fault import Unwell
from chaos.nemesis import Unavailable
from chaos.network import NetworkError
from checker.trail import TrailError
from checker.verdict import outrank
from lastseat import folder as folders
from lastseat.briefing import brief
from lastseat.console import screen
from lastseat.errors import LabError
from lastseat.interruptible import run
from lastseat.lab import Lab
from lastseat.live import progress
from lastseat.nodes import Deployer
from lastseat.rejudging import EXIT_CODES, judged, write_verdict
from lastseat.run import Course, play
from lastseat.wishes import found
from reports.github import annotate
from reports.terminal import Outcome, print_closing, print_verdict
from scenarios import history
from scenarios.load import LoadError
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from pathlib import Path

    from checker.verdict import Verdict
    from lastseat.errors import ExitCode
    from lastseat.live import Progress
    from lastseat.request import Request

TEMPLATE = "lastseat_template"


def play_all(request: Request) -> ExitCode:
    """Play the scenarios asked for one after another in one lab; the exit code is that of the worst verdict."""
    console = screen()
    with progress(console) as telling:
        outcomes = run(_play_all(request, telling))
    for folder, outcome in outcomes:
        print_verdict(outcome.verdict, folder, console)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in annotate(outcome.verdict):
                console.print(line, markup=False, soft_wrap=True)
    if len(outcomes) > 1:
        print_closing([outcome for _, outcome in outcomes], console)
    return EXIT_CODES[outrank(outcome.verdict.judgement for _, outcome in outcomes)]


async def _play_all(request: Request, telling: Progress) -> list[tuple[Path, Outcome]]:
    outcomes: list[tuple[Path, Outcome]] = []
    began = time.monotonic()
    scenarios = [request.asked(found(name)) for name in request.names]
    folder = folders.create(request.runs, scenarios[0].name)
    telling.phase(
        "the lab: PostgreSQL, Valkey" + (", Toxiproxy" if any(each.faults for each in scenarios) else "")
    )
    async with Lab.start(
        folder=folder,
        database_url=request.servers.database_url,
        redis_url=request.servers.redis_url,
        toxiproxy_url=request.servers.toxiproxy_url,
        with_toxiproxy=any(scenario.faults for scenario in scenarios),
        say=telling.notice,
    ) as lab:
        if lab.proxy is not None and lab.proxy.notice:
            telling.notice(lab.proxy.notice)
        template = await _template(lab)
        for scenario in scenarios:
            if outcomes:
                began = time.monotonic()
                folder = folders.create(request.runs, scenario.name)
                lab.folder = folder
            course = Course(
                name=f"{scenario.name}-{lab.environment_marker[:8]}",
                scenario=scenario,
                seed=request.seed,
                target=Builtin(),
                lab=lab,
                folder=folder,
                mutant=request.mutant,
            )
            verdict = await _one(request, course, template, telling)
            outcomes.append((folder, Outcome(verdict=verdict, seconds=time.monotonic() - began)))
    return outcomes


async def _template(lab: Lab) -> str:
    """Make the database that every run's is a copy of."""
    dsn = await lab.create_database(TEMPLATE)
    await Deployer(lab=lab, environment={}).migrate(dsn)
    return TEMPLATE


async def _one(request: Request, course: Course, template: str, telling: Progress) -> Verdict:
    """Play, judge and report one scenario; raises LabError, naming the folder, when it cannot be played to its end."""
    folder = course.folder
    try:
        played = await play(course, template, telling)
        telling.phase("the verdict")
        history.write_history(folder)
    except (
        LoadError,
        TargetError,
        TrailError,
        NetworkError,
        Unavailable,
        Unwell,
        history.JournalUnreadable,
    ) as broken:
        raise LabError(
            f"{course.scenario.name} could not be played to its end: {broken}", where=str(folder)
        ) from broken
    await brief(course, played, command=request.command(course.scenario.name))
    warming = asyncio.create_task(asyncio.to_thread(reports.warm))
    verdict = await asyncio.to_thread(judged, folder, request.invariant_folders)
    write_verdict(folder, verdict)
    telling.phase("the report")
    await warming
    await asyncio.to_thread(reports.write, folder, verdict)
    folders.point_latest(request.runs, folder)
    reports.write_index(request.runs)
    return verdict
