"""The matrix of planted bugs: what caught each of them, after how many operations, in how many of its runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
import pyarrow.parquet as pq

from checker.brief import read_brief
from checker.verdict import Judgement
from lastseat.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from chaos.mutants import Mutant
    from checker.verdict import Verdict

RACY_SHARE_MIN: Final = 0.99
"""A bug that bites only where requests meet has to be caught in this share of its runs, any other in each."""


class Fate(StrEnum):
    """What became of a planted bug in one run, or in all of them; the later in this order outranks the earlier."""

    CAUGHT = "caught"
    UNPROVEN = "unproven"  # none of those that it names let it pass, but one could not be judged
    FAILED = "not played"  # the lab did not get to the end of the run
    PARTLY = "caught in part"  # not by each of those that it names
    BY_ANOTHER = "caught by another"  # by none of those that it names
    SURVIVED = "survived"  # by none at all


CODES: Final = {
    Fate.CAUGHT: ExitCode.VALID,
    Fate.UNPROVEN: ExitCode.INCONCLUSIVE,
    Fate.FAILED: ExitCode.LAB_FAILED,
    Fate.PARTLY: ExitCode.VIOLATED,
    Fate.BY_ANOTHER: ExitCode.VIOLATED,
    Fate.SURVIVED: ExitCode.VIOLATED,
}
_RANKS: Final = list(Fate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run with a planted bug: its fate, who found something, and after how many operations (None: nobody can tell)."""

    fate: Fate
    found_by: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    operations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One planted bug and all of its runs."""

    mutant: Mutant
    attempts: tuple[Attempt, ...]

    @property
    def caught(self) -> int:
        """In how many runs each invariant that it names caught it."""
        return sum(attempt.fate is Fate.CAUGHT for attempt in self.attempts)

    @property
    def found_by(self) -> tuple[str, ...]:
        """Those of the invariants it names that found something in any of its runs."""
        return tuple(name for name in self.mutant.caught_by if name in self._found)

    @property
    def besides(self) -> tuple[str, ...]:
        """What else was violated in any of its runs: no failure, as one bug may break more rules than its own."""
        return tuple(sorted(self._found - set(self.mutant.caught_by)))

    @property
    def _found(self) -> set[str]:
        return {name for attempt in self.attempts for name in attempt.found_by}

    @property
    def fate(self) -> Fate:
        """The worst that became of it; a racy one that is caught often enough is caught."""
        if self.mutant.racy and self.attempts and self.caught / len(self.attempts) >= RACY_SHARE_MIN:
            return Fate.CAUGHT
        return max(
            (attempt.fate for attempt in self.attempts),
            key=_RANKS.index,
            default=Fate.FAILED,
        )

    @property
    def operations(self) -> int | None:
        """After how many operations it was caught: the median of the runs in which that can be told."""
        told = [attempt.operations for attempt in self.attempts if attempt.operations is not None]
        return round(median(told)) if told else None

    @property
    def remark(self) -> str:
        """What is wrong, in words; empty for one that is caught."""
        if self.fate is Fate.CAUGHT:
            return ""
        worst = next((each for each in self.attempts if each.fate is self.fate), Attempt(fate=self.fate))
        missed = ", ".join(name for name in self.mutant.caught_by if name not in worst.found_by)
        match self.fate:
            case Fate.BY_ANOTHER:
                return f"only by {', '.join(worst.found_by)}"
            case Fate.PARTLY:
                return f"not by {missed}"
            case Fate.UNPROVEN:
                return f"{', '.join(worst.unknown)} could not be judged"
            case _:
                return self.fate.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A scenario that was played without a planted bug; `judgement` is None where it was not played to its end."""

    scenario: str
    judgement: Judgement | None
    reasons: tuple[str, ...] = ()

    @property
    def code(self) -> ExitCode:
        """What the shell is told of it."""
        match self.judgement:
            case Judgement.VALID:
                return ExitCode.VALID
            case Judgement.INVALID:
                return ExitCode.VIOLATED
            case Judgement.UNKNOWN:
                return ExitCode.INCONCLUSIVE
            case None:
                return ExitCode.LAB_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Every planted bug that was played, the healthy control of each scenario, and the bugs that cannot bite."""

    rows: tuple[Row, ...]
    controls: tuple[Control, ...]
    harmless: tuple[Mutant, ...] = ()
    there: int = 0
    """How many planted bugs there are, played or not."""

    @property
    def code(self) -> ExitCode:
        """A bug that got away or a false alarm outranks a lab that failed, and that what proved nothing."""
        codes = {CODES[row.fate] for row in self.rows} | {control.code for control in self.controls}
        for worst in (ExitCode.VIOLATED, ExitCode.LAB_FAILED, ExitCode.INCONCLUSIVE):
            if worst in codes:
                return worst
        return ExitCode.VALID if codes else ExitCode.INCONCLUSIVE


def attempt(mutant: Mutant, verdict: Verdict, folder: Path) -> Attempt:
    """Return what became of a planted bug in a judged run."""
    found_by = _names(verdict, Judgement.INVALID)
    missed = [name for name in mutant.caught_by if name not in found_by]
    unknown = tuple(name for name in _names(verdict, Judgement.UNKNOWN) if name in missed)
    if not missed:
        operations = operations_until_caught(mutant.caught_by, verdict, folder)
        return Attempt(fate=Fate.CAUGHT, found_by=found_by, operations=operations)
    # One that looked and saw nothing has let it pass, whatever those that could not look would have said.
    if len(unknown) == len(missed):
        return Attempt(fate=Fate.UNPROVEN, found_by=found_by, unknown=unknown)
    if len(missed) < len(mutant.caught_by):
        return Attempt(fate=Fate.PARTLY, found_by=found_by)
    return Attempt(fate=Fate.BY_ANOTHER if found_by else Fate.SURVIVED, found_by=found_by)


def operations_until_caught(invariants: Iterable[str], verdict: Verdict, folder: Path) -> int | None:
    """Count the operations sent until the last line of the earliest witness; None where each ends at rest."""
    wanted = set(invariants)
    complete_ms = [
        at_ms
        for finding in verdict.findings
        if finding.invariant in wanted
        and finding.witness
        and (at_ms := finding.witness[-1].at_ms) is not None
    ]
    if not complete_ms:
        return None
    until_ns = read_brief(folder).t0_ns + round(min(complete_ms) * 1e6)
    sent = pq.read_table(folder / "operations.parquet", columns=["sent_ns"]).column("sent_ns")
    return int(pc.sum(pc.less_equal(sent, until_ns)).as_py() or 0)


def _names(verdict: Verdict, judgement: Judgement) -> tuple[str, ...]:
    return tuple(finding.invariant for finding in verdict.findings if finding.judgement is judgement)
