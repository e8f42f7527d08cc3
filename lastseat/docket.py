"""What is on in a season and what became of it: turns, the setting they share, and the verdicts so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from checker.verdict import Judgement, outrank
from lastseat.errors import ExitCode
from lastseat.rejudging import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict
    from lastseat.errors import LabError
    from lastseat.request import Servers
    from reports.terminal import Outcome
    from scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run of a season: what is played, with which seed and planted bug, and the command that plays it again.

    Its folder is `runs`/`filed`/<timestamp>.
    """

    scenario: Scenario
    seed: int
    mutant: str | None
    command: str
    runs: Path
    filed: str
    judges_thresholds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A turn that was played to its end, where its evidence lies and how it was judged."""

    turn: Turn
    folder: Path
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        """Its verdict."""
        return self.outcome.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What all turns of a season share: the servers, invariants of a user's own, and whether reports are drawn.

    With `web`, Locust's own page is shown while a load lasts.
    `summary` puts a judged turn in a line, told as soon as its verdict is there. A turn is left out that what is
    judged so far makes `needless`.
    """

    servers: Servers
    summary: Callable[[Judged], str]
    invariant_folders: tuple[Path, ...] = ()
    drawn: bool = True
    web: bool = False
    needless: Callable[[Season, Turn], bool] | None = None


@dataclass(slots=True)
class Season:
    """What became of the turns so far: those that were judged, and those that could not be played to their end."""

    judged: list[Judged] = field(default_factory=list)
    failed: list[LabError] = field(default_factory=list)
    unplayed: list[Turn] = field(default_factory=list)

    @property
    def code(self) -> ExitCode:
        """The exit code: a violation outranks a failure, a failure any other verdict."""
        worst = outrank(each.verdict.judgement for each in self.judged)
        if self.failed and worst is not Judgement.INVALID:
            return ExitCode.LAB_FAILED
        return EXIT_CODES[worst]

    def fail(self, turn: Turn, why: LabError) -> None:
        """Note a turn that could not be played, or judged, to its end."""
        self.failed.append(why)
        self.unplayed.append(turn)
