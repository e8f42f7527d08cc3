"""The verdict of a run folder: written once after the run, and computed again whenever somebody doubts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

import reports
from checker.brief import SCHEMA_VERSION, read_brief
from checker.errors import EvidenceError, NoRoomError
from checker.invariants import InvariantError
from checker.judge import check
from checker.seal import NAME as SEAL
from checker.seal import seal
from checker.trail import DecodeError, SpoolError, read_record, to_parquet
from checker.trail.decode import SPOOL
from checker.trail.record import write_record
from checker.verdict import Judgement
from lastseat import folder as folders
from lastseat.agreement import Agreement, compare
from lastseat.console import say_error, screen
from lastseat.errors import EvidenceRefused, ExitCode, UsageError
from reports.files import replace
from reports.terminal import print_verdict
from scenarios import history

if TYPE_CHECKING:
    from pathlib import Path

    from checker.verdict import Verdict

EXIT_CODES: Final = {
    Judgement.VALID: ExitCode.VALID,
    Judgement.INVALID: ExitCode.VIOLATED,
    Judgement.UNKNOWN: ExitCode.INCONCLUSIVE,
}

_JUDGED_NOW: Final = "It had been played to its end, but never judged; its verdict.json was written now."
_UNSEALED: Final = f"  There is no {SEAL}, so nobody can tell whether the evidence is as the run left it."


def write_verdict(folder: Path, verdict: Verdict) -> None:
    """Write verdict.json, whole or not at all."""
    replace(
        folder / "verdict.json", msgspec.json.format(msgspec.json.encode(verdict).decode(), indent=2) + "\n"
    )


def judged(folder: Path, invariant_folders: tuple[Path, ...] = (), *, unsealed: bool = False) -> Verdict:
    """Compute the verdict from the folder alone; raises EvidenceRefused where it is not as a run left it.

    A run that was judged has a seal; without one nothing is told from damage, which is `unsealed` only where asked for.
    """
    try:
        if not unsealed:
            _refuse_unsealed(folder)
        return check(folder, invariant_folders)
    except InvariantError as bad:
        raise UsageError(f"{bad}") from bad
    except NoRoomError as short:
        raise EvidenceRefused(
            f"{folder} cannot be judged here: {short}",
            remedy="Nothing is known to be wrong with it: give more memory, or disk where TMPDIR is, and check it again.",
        ) from short
    except (EvidenceError, msgspec.ValidationError, msgspec.DecodeError) as bad:
        raise EvidenceRefused(
            f"{folder} cannot be judged: {bad}",
            remedy="The run may have been cut short, or made by another version; play it again.",
        ) from bad


def _refuse_unsealed(folder: Path) -> None:
    """Raise EvidenceError where there is no seal; evidence of another version is refused for that instead."""
    if not (folder / SEAL).exists() and read_brief(folder).schema_version == SCHEMA_VERSION:
        raise EvidenceError(
            f"it is not as the run left it: {SEAL}, which every run that was judged has, is gone "
            f"(`lastseat check --unsealed` judges it as it is)"
        )


def conclude(folder: Path, invariant_folders: tuple[Path, ...]) -> Verdict:
    """Make evidence of what a run has recorded, seal it, judge it, and write the verdict; raises UsageError."""
    try:
        if (folder / SPOOL).is_file():
            write_record(folder, to_parquet(folder, read_record(folder)))
        history.write_history(folder)
    except (DecodeError, SpoolError, history.JournalUnreadable) as bad:
        raise UsageError(f"{folder} cannot be judged: {bad}", remedy="Play it again.") from bad
    seal(folder)
    verdict = judged(folder, invariant_folders)
    write_verdict(folder, verdict)
    return verdict


def is_concluded(folder: Path) -> bool:
    """Tell whether what a run has recorded was made evidence of, which one that was cut short by Ctrl-C leaves undone."""
    recorded = (folder / SPOOL).is_file() or any((folder / "journal").glob("*.bin"))
    return not recorded or (folder / SEAL).exists() or (folder / "verdict.json").exists()


def check_again(named: Path, invariant_folders: tuple[Path, ...], *, unsealed: bool = False) -> ExitCode:
    """Judge a run again, print the verdict, and say whether it agrees with the one that was written.

    Where that one cannot be read, or differs though no rule has changed, the code is that of a failure. One that was played to its end but never judged is judged for the first time, and its verdict written.
    """
    folder = folders.find(named)
    console = screen()
    # What is to be judged as it is, is not made anew out of what was recorded.
    if is_concluded(folder) or (unsealed and any((folder / "changes").glob("*.parquet"))):
        verdict = judged(folder, invariant_folders, unsealed=unsealed)
        agreement = compare(folder, verdict)
    else:
        verdict = conclude(folder, invariant_folders)
        agreement = Agreement(words=_JUDGED_NOW)
    print_verdict(verdict, folder, console)
    if unsealed and not (folder / SEAL).exists():
        console.print(_UNSEALED, soft_wrap=True, highlight=False, markup=False)
    if not agreement.trusted:
        say_error(agreement.words)
        return ExitCode.LAB_FAILED
    console.print(f"  {agreement.words}", soft_wrap=True, highlight=False, markup=False)
    return EXIT_CODES[verdict.judgement]


def report_again(named: Path) -> None:
    """Write a run's verdict and report again from its folder."""
    folder = folders.find(named)
    if is_concluded(folder):
        verdict = judged(folder)
        write_verdict(folder, verdict)
    else:
        verdict = conclude(folder, ())
    written = reports.write(folder, verdict)
    reports.write_index(folder.parent.parent)
    screen().print(f"written: {written}", soft_wrap=True, highlight=False, markup=False)
