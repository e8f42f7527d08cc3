"""Plays what was asked for in one lab, judges each run, and says how it ended."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from checker.verdict import Judgement
from lastseat.closing import closing
from lastseat.console import say_error, screen
from lastseat.docket import Season, Setting, Turn
from lastseat.errors import ExitCode, LabError
from lastseat.interruptible import run
from lastseat.live import progress
from lastseat.options import Until
from lastseat.season import play_season
from lastseat.wishes import found
from reports.github import annotate
from reports.rates import print_rates
from reports.terminal import print_closing, print_verdict, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from checker.verdict import Verdict
    from lastseat.docket import Judged
    from lastseat.request import Request

_ENDS: Final = {
    Until.NEVER: frozenset[Judgement](),
    Until.INVALID: frozenset({Judgement.INVALID}),
    Until.INCONCLUSIVE: frozenset({Judgement.UNKNOWN}),
    Until.FAILED: frozenset({Judgement.INVALID, Judgement.UNKNOWN}),
}


def play_all(request: Request) -> ExitCode:
    """Play the scenarios asked for in one lab; what was judged is told, whatever came after it. Of none at all: valid."""
    console = screen()
    for words in request.said:
        console.print(words, soft_wrap=True, highlight=False, markup=False)
    if not request.names:
        console.print("There is nothing to play.", highlight=False)
        return ExitCode.VALID
    season, planned = Season(), turns(request)
    setting = Setting(
        servers=request.servers,
        invariant_folders=request.invariant_folders,
        summary=lambda judged: summary(judged.verdict),
        web=request.web,
        needless=None if request.until is Until.NEVER else needless(request.until),
    )
    try:
        with progress(console) as telling:
            run(play_season(planned, setting, season, telling))
    except LabError as broken:
        season.failed.append(broken)
    finally:
        _tell(season, console, repeated=request.repeat > 1)
        if len(planned) > 1 and (season.judged or season.unplayed):
            for line in closing(planned, season, setting):
                console.print(line, soft_wrap=True, markup=False)
        for problem in season.failed:
            say_error(str(problem))
    return season.code


def turns(request: Request) -> tuple[Turn, ...]:
    """Return the turns that a request asks for: all its scenarios in its order, and that as often as it says."""
    once = tuple(
        Turn(
            scenario=request.asked(found(name, request.profile)),
            seed=request.seed,
            mutant=request.mutant,
            command=request.command(name),
            runs=request.runs,
            filed=name,
            judges_thresholds=request.judges_thresholds,
        )
        for name in request.names
    )
    return once * request.repeat


def needless(until: Until) -> Callable[[Season, Turn], bool]:
    """Return what tells whether a scenario has come to what ends its repeats; one that could not be played has failed."""

    def ended(season: Season, turn: Turn) -> bool:
        if until is Until.FAILED and any(each.filed == turn.filed for each in season.unplayed):
            return True
        return any(
            each.turn.filed == turn.filed and each.verdict.judgement in _ENDS[until] for each in season.judged
        )

    return ended


def _tell(season: Season, console: Console, *, repeated: bool) -> None:
    for each in at_length(season):
        print_verdict(each.verdict, each.folder, console)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in annotate(each.verdict):
                console.print(line, markup=False, soft_wrap=True)
    if repeated:
        runs: dict[str, list[Verdict]] = defaultdict(list)
        for each in season.judged:
            runs[each.turn.filed].append(each.verdict)
        print_rates(runs, Counter(turn.filed for turn in season.unplayed), console)
    elif len(season.judged) > 1:
        print_closing([each.outcome for each in season.judged], console)


def at_length(season: Season) -> Iterator[Judged]:
    """Yield the runs to be told in full: the only one, else those that did not hold, and of repeats the first that ended so."""
    told: set[tuple[str, Judgement]] = set()
    for each in season.judged:
        ended = (each.turn.filed, each.verdict.judgement)
        if len(season.judged) > 1 and (each.verdict.judgement is Judgement.VALID or ended in told):
            continue
        told.add(ended)
        yield each
