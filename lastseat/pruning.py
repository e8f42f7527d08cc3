"""Makes room: keeps the newest runs and every run that did not pass, and removes the rest.

Of runs that `lastseat mutants` has made, those with a planted bug are invalid by design: of them only the newest stay.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from typing import TYPE_CHECKING

import msgspec

from checker.verdict import Judgement
from lastseat.console import screen
from lastseat.folder import LATEST, MUTANTS, UP, age
from lastseat.room import is_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNJUDGED_SECONDS_MIN = 86_400.0
"""A folder without a verdict may belong to a run that is under way; after a day it does not."""
IDLE_SECONDS_MIN = 60.0
"""An empty folder of a scenario may be one in which a run is about to make its own."""


class _Judged(msgspec.Struct, frozen=True):
    judgement: Judgement
    mutant: str | None = None


def prune(runs: Path, *, keep: int) -> None:
    """Remove all but the newest `keep` runs and those that did not pass; say what was removed.

    Of the runs of `lastseat mutants` the newest `keep` stay besides, and controls that raised an alarm.
    The logs of labs that were only up go after a day, and so do folders of scenarios in which nothing is left.
    """
    console = screen()
    if not is_there(runs):
        console.print(
            f"There is no folder {runs}; nothing was removed.", soft_wrap=True, highlight=False, markup=False
        )
        return
    told = 0
    for folder in (*removable(runs, keep=keep), *forgotten(runs)):
        shutil.rmtree(folder)
        console.print(f"  removed: {folder}", soft_wrap=True, highlight=False, markup=False)
        told += 1
    for folder in empty(runs):
        with contextlib.suppress(OSError):  # somebody else's run has just made its folder there
            folder.rmdir()
            console.print(
                f"  removed: {folder}, which was empty", soft_wrap=True, highlight=False, markup=False
            )
    console.print(f"{told} {'run was' if told == 1 else 'runs were'} removed.", highlight=False)


def removable(runs: Path, *, keep: int) -> list[Path]:
    """Return the run folders that may go, oldest first."""
    played = sorted(_folders(runs), key=age, reverse=True)
    proofs = sorted(_folders(runs / MUTANTS), key=age, reverse=True)
    old = [folder for folder in played[keep:] if _may_go(folder)]
    old += [folder for folder in proofs[keep:] if _may_go(folder, also_planted=True)]
    return sorted(old, key=age)


def forgotten(runs: Path) -> list[Path]:
    """Return what labs that were only up have left there more than a day ago, oldest first."""
    if not (runs / UP).is_dir() or (runs / UP).is_symlink():
        return []
    return sorted((folder for folder in _below(runs / UP) if _is_old(folder)), key=age)


def empty(runs: Path) -> list[Path]:
    """Return the folders of scenarios that hold nothing, and in which nothing has happened for a while."""
    return sorted(
        scenario
        for place in (runs, runs / MUTANTS)
        for scenario in _of_scenarios(place)
        if not any(scenario.iterdir()) and time.time() - scenario.stat().st_mtime > IDLE_SECONDS_MIN
    )


def _folders(runs: Path) -> Iterator[Path]:
    for scenario in _of_scenarios(runs):
        if scenario.name != UP:
            yield from _below(scenario)


def _of_scenarios(runs: Path) -> Iterator[Path]:
    if not runs.is_dir() or (runs.is_symlink() and runs.name == MUTANTS):
        return iter(())
    return (
        scenario
        for scenario in runs.iterdir()
        if scenario.is_dir() and not scenario.is_symlink() and scenario.name != LATEST
    )


def _below(scenario: Path) -> Iterator[Path]:
    """Yield the run folders in the folder of a scenario."""
    return (folder for folder in scenario.iterdir() if (folder / "logs").is_dir() and not folder.is_symlink())


def _may_go(folder: Path, *, also_planted: bool = False) -> bool:
    """Tell whether a run passed, or was left without a verdict long ago, or had a bug planted where that is enough."""
    try:
        text = (folder / "verdict.json").read_bytes()
    except FileNotFoundError:
        return _is_old(folder)
    try:
        judged = msgspec.json.decode(text, type=_Judged)
    except msgspec.MsgspecError:
        return False  # what cannot be read may be what somebody is looking for
    return judged.judgement is Judgement.VALID or (also_planted and judged.mutant is not None)


def _is_old(folder: Path) -> bool:
    """Tell whether nothing has been written there for a day, in the folder or its logs."""
    newest = max(part.stat().st_mtime for part in (folder, folder / "logs", *(folder / "logs").iterdir()))
    return time.time() - newest > UNJUDGED_SECONDS_MIN
