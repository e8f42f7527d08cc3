"""Proves the bench: plays each planted bug in its scenario, and each scenario without one, all in one lab."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from chaos import mutants
from chaos.nearest import meant as nearest
from lastseat.console import say_error, screen
from lastseat.docket import Season, Setting, Turn
from lastseat.errors import ExitCode, LabError, UsageError
from lastseat.folder import MUTANTS
from lastseat.interruptible import run
from lastseat.live import progress
from lastseat.matrix import Attempt, Control, Fate, Matrix, Row, attempt
from lastseat.request import Request
from lastseat.season import play_season
from lastseat.track_record import print_matrix, write_page
from lastseat.wishes import found
from reports.terminal import summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from chaos.mutants import Mutant
    from lastseat.docket import Judged
    from lastseat.request import Servers


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """Which planted bugs are to be caught, in the order of the matrix, and how often each is played.

    `repeated` are the names of those that are played with `repeat` seeds, from `seed` on; others are played once.
    """

    planted: tuple[Mutant, ...]
    seed: int
    repeat: int
    repeated: frozenset[str]
    runs: Path
    servers: Servers
    drawn: bool = False
    page: Path | None = None
    there: int = 0
    """How many planted bugs there are, meant or not."""

    @property
    def biting(self) -> tuple[Mutant, ...]:
        """Those that can bite in this service, and so have to be caught."""
        return tuple(mutant for mutant in self.planted if not mutant.harmless)

    def seeds(self, mutant: Mutant) -> range:
        """Return the seeds that one is played with."""
        return range(self.seed, self.seed + (self.repeat if mutant.name in self.repeated else 1))

    def turns(self) -> tuple[Turn, ...]:
        """Return the controls, then the planted bugs."""
        scenarios = dict.fromkeys(mutant.scenario for mutant in self.biting)
        return (
            *(self._turn(scenario, self.seed, None) for scenario in scenarios),
            *(
                self._turn(mutant.scenario, seed, mutant.name)
                for mutant in self.biting
                for seed in self.seeds(mutant)
            ),
        )

    def _turn(self, scenario: str, seed: int, mutant: str | None) -> Turn:
        request = Request(names=(scenario,), seed=seed, runs=self.runs, servers=self.servers, mutant=mutant)
        return Turn(
            scenario=request.asked(found(scenario)),
            seed=seed,
            mutant=mutant,
            command=request.command(scenario),
            runs=self.runs / MUTANTS,
            filed=mutant or scenario,
        )


def challenge(
    *,
    patterns: Sequence[str],
    section: str | None,
    seed: int,
    repeat: int,
    runs: Path,
    servers: Servers,
    drawn: bool,
    page: Path | None,
) -> Challenge:
    """Return which bugs are meant; raises UsageError for a name or section that means none, with those there are."""
    there = mutants.discover()
    if section is not None and section not in mutants.SECTIONS:
        raise UsageError(f"There is no section {section!r}; there are: {', '.join(mutants.SECTIONS)}.")
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in there):
            raise UsageError(
                f"There is no planted bug {pattern!r}.{nearest(pattern, there, most=3)}",
                remedy=f"`lastseat list` tells what each of the {len(there)} there are is.",
            )
    named = [name for name in there if any(fnmatchcase(name, pattern) for pattern in patterns)]
    meant = [there[name] for name in (named or there) if section in (None, there[name].section)]
    if not meant:
        raise UsageError(f"None of these is of the section {section!r}: {', '.join(named)}.")
    ordered = sorted(meant, key=lambda mutant: (mutants.SECTIONS.index(mutant.section), mutant.name))
    return Challenge(
        planted=tuple(ordered),
        seed=seed,
        repeat=repeat,
        repeated=frozenset(mutant.name for mutant in ordered if mutant.racy or mutant.name in named),
        runs=runs,
        servers=servers,
        drawn=drawn,
        page=page,
        there=len(there),
    )


def prove(challenge: Challenge) -> ExitCode:
    """Play all of it and print the matrix; what was played is told, whatever came after it."""
    console = screen()
    season = Season()
    planted = {mutant.name: mutant for mutant in challenge.planted}

    def told(judged: Judged) -> str:
        """Say what became of a turn."""
        if judged.turn.mutant is None:
            return f"without a bug  {summary(judged.verdict)}"
        mutant = planted[judged.turn.mutant]
        made = attempt(mutant, judged.verdict, judged.folder)
        return f"{made.fate.value}  {mutant.name}: {', '.join(made.found_by) or 'nobody found anything'}"

    setting = Setting(servers=challenge.servers, summary=told, drawn=challenge.drawn)
    turns = challenge.turns()
    try:
        if turns:
            with progress(console) as telling:
                run(play_season(turns, setting, season, telling))
    except LabError as broken:
        season.failed.append(broken)
    finally:
        matrix = drawn_up(challenge, turns, season.judged)
        print_matrix(matrix, console)
        for problem in season.failed:
            say_error(str(problem))
    if challenge.page is not None:
        write_page(matrix, challenge.page)
    return code(matrix, season)


def code(matrix: Matrix, season: Season) -> ExitCode:
    """Return the exit code: a lab that failed after its last run outranks all but a bug that got away and a false alarm."""
    if season.failed and matrix.code is not ExitCode.VIOLATED:
        return ExitCode.LAB_FAILED
    return matrix.code


def drawn_up(challenge: Challenge, turns: Sequence[Turn], judged: Sequence[Judged]) -> Matrix:
    """Return the matrix of a season; a turn that is not among those judged was not played to its end."""
    by_turn = {id(each.turn): each for each in judged}
    return Matrix(
        rows=tuple(
            Row(
                mutant=mutant,
                attempts=tuple(
                    _attempt(mutant, by_turn.get(id(turn))) for turn in turns if turn.mutant == mutant.name
                ),
            )
            for mutant in challenge.biting
        ),
        controls=tuple(_control(turn, by_turn) for turn in turns if turn.mutant is None),
        harmless=tuple(mutant for mutant in challenge.planted if mutant.harmless),
        there=challenge.there,
    )


def _attempt(mutant: Mutant, judged: Judged | None) -> Attempt:
    return Attempt(fate=Fate.FAILED) if judged is None else attempt(mutant, judged.verdict, judged.folder)


def _control(turn: Turn, by_turn: Mapping[int, Judged]) -> Control:
    judged = by_turn.get(id(turn))
    if judged is None:
        return Control(scenario=turn.scenario.name, judgement=None)
    verdict = judged.verdict
    return Control(scenario=turn.scenario.name, judgement=verdict.judgement, reasons=verdict.reasons)
