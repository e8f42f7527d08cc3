"""The verdict of a run folder: written once after the run, and computed again whenever somebody doubts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

import reports
from checker.evidence import EvidenceError
from checker.invariants import InvariantError
from checker.judge import check
from checker.seal import NAME as SEAL
from checker.seal import seal
from checker.trail import DecodeError, SpoolError, read_record, to_parquet
from checker.trail.decode import SPOOL
from checker.trail.record import write_record
from checker.verdict import Judgement, Verdict
from lastseat import folder as folders
from lastseat.console import screen
from lastseat.errors import ExitCode, UsageError
from reports.files import replace
from reports.terminal import print_verdict
from scenarios import history

if TYPE_CHECKING:
    from pathlib import Path

EXIT_CODES: Final = {
    Judgement.VALID: ExitCode.VALID,
    Judgement.INVALID: ExitCode.VIOLATED,
    Judgement.UNKNOWN: ExitCode.INCONCLUSIVE,
}


def write_verdict(folder: Path, verdict: Verdict) -> None:
    """Write verdict.json, whole or not at all."""
    replace(
        folder / "verdict.json", msgspec.json.format(msgspec.json.encode(verdict).decode(), indent=2) + "\n"
    )


def judged(folder: Path, invariant_folders: tuple[Path, ...] = ()) -> Verdict:
    """Compute the verdict from the folder alone; raises UsageError where it holds no evidence to judge."""
    try:
        return check(folder, invariant_folders)
    except InvariantError as bad:
        raise UsageError(f"{bad}") from bad
    except (EvidenceError, msgspec.ValidationError, msgspec.DecodeError) as bad:
        raise UsageError(
            f"{folder} cannot be judged: {bad}",
            remedy="The run may have been cut short, or made by another version; play it again.",
        ) from bad


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


def check_again(named: Path, invariant_folders: tuple[Path, ...]) -> ExitCode:
    """Judge a run again, print the verdict, and say whether it agrees with the one that was written.

    One that was played to its end but never judged is judged for the first time, and its verdict written.
    """
    folder = folders.find(named)
    console = screen()
    if is_concluded(folder):
        verdict = judged(folder, invariant_folders)
        said = _agreement(folder, verdict)
    else:
        verdict = conclude(folder, invariant_folders)
        said = "  It had been played to its end, but never judged; its verdict.json was written now."
    print_verdict(verdict, folder, console)
    console.print(said, soft_wrap=True, highlight=False, markup=False)
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


def _agreement(folder: Path, verdict: Verdict) -> str:
    try:
        there = msgspec.json.decode((folder / "verdict.json").read_bytes(), type=Verdict)
    except FileNotFoundError:
        return "  There was no verdict.json to compare with."
    except (OSError, msgspec.MsgspecError) as odd:
        return f"  verdict.json cannot be read, so nothing was compared: {odd}"
    if there == verdict:
        return "  The verdict agrees with the one in verdict.json."
    known = {finding.invariant for finding in there.findings}
    besides = [finding.invariant for finding in verdict.findings if finding.invariant not in known]
    shared = tuple(finding for finding in verdict.findings if finding.invariant in known)
    if besides and (shared, verdict.premises, verdict.figures) == (
        there.findings,
        there.premises,
        there.figures,
    ):
        return (
            f"  The verdict agrees with the one in verdict.json, which did not ask for {', '.join(besides)}."
        )
    before = {finding.invariant: finding for finding in there.findings}
    changed = [
        finding.invariant
        for finding in verdict.findings
        if finding.invariant in before and finding.sql_hash != before[finding.invariant].sql_hash
    ]
    added = [finding.invariant for finding in verdict.findings if finding.invariant not in before]
    words = [f"  It differs from verdict.json, which says {there.judgement.value}."]
    if changed:
        words.append(f"  These rules have changed since: {', '.join(changed)}.")
    if added:
        words.append(f"  These were not judged then: {', '.join(added)}.")
    if verdict.figures != there.figures:
        words.append("  What is measured against thresholds differs.")
    elif not changed and not added:
        words.append("  No rule has changed, so the evidence or the checker has.")
    return "\n".join(words)
