"""Plays what was asked for in one lab, judges each run, and says how it ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checker.verdict import Judgement
from lastseat.console import say_error, screen
from lastseat.errors import LabError
from lastseat.interruptible import run
from lastseat.live import progress
from lastseat.season import Season, Setting, Turn, play_season
from lastseat.wishes import found
from reports.github import annotate
from reports.terminal import print_closing, print_verdict, summary

if TYPE_CHECKING:
    from rich.console import Console

    from lastseat.errors import ExitCode
    from lastseat.request import Request


def play_all(request: Request) -> ExitCode:
    """Play the scenarios asked for one after another in one lab; what was judged is told, whatever came after it."""
    console = screen()
    season = Season()
    setting = Setting(
        servers=request.servers,
        invariant_folders=request.invariant_folders,
        summary=lambda judged: summary(judged.verdict),
    )
    try:
        with progress(console) as telling:
            run(play_season(turns(request), setting, season, telling))
    except LabError as broken:
        season.failed.append(broken)
    finally:
        _tell(season, console)
    return season.code


def turns(request: Request) -> tuple[Turn, ...]:
    """Return the turns that a request asks for, in its order."""
    return tuple(
        Turn(
            scenario=request.asked(found(name)),
            seed=request.seed,
            mutant=request.mutant,
            command=request.command(name),
            runs=request.runs,
            filed=name,
        )
        for name in request.names
    )


def _tell(season: Season, console: Console) -> None:
    several = len(season.judged) > 1
    for each in season.judged:
        if not several or each.verdict.judgement is not Judgement.VALID:
            print_verdict(each.verdict, each.folder, console)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in annotate(each.verdict):
                console.print(line, markup=False, soft_wrap=True)
    if several:
        print_closing([each.outcome for each in season.judged], console)
        held = sum(each.verdict.judgement is Judgement.VALID for each in season.judged)
        index = season.judged[0].turn.runs.resolve() / "index.html"
        console.print(f"{held} of {len(season.judged)} held. All runs: {index}", soft_wrap=True, markup=False)
    for broken in season.failed:
        say_error(str(broken))
