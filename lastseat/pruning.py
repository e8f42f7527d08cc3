"""Makes room: keeps the newest runs and every run that did not pass, and removes the rest."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import msgspec

from checker.verdict import Judgement
from lastseat.console import screen
from lastseat.folder import LATEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNJUDGED_SECONDS_MIN = 86_400.0
"""A folder without a verdict may belong to a run that is under way; after a day it does not."""


class _Judged(msgspec.Struct, frozen=True):
    judgement: Judgement


def prune(runs: Path, *, keep: int) -> None:
    """Remove all but the newest `keep` runs and those that did not pass; say what was removed."""
    console = screen()
    told = 0
    for folder in removable(runs, keep=keep):
        shutil.rmtree(folder)
        console.print(f"  removed: {folder}", soft_wrap=True, highlight=False, markup=False)
        told += 1
    console.print(f"{told} {'run was' if told == 1 else 'runs were'} removed.", highlight=False)


def removable(runs: Path, *, keep: int) -> list[Path]:
    """Return the run folders that may go, oldest first."""
    newest = sorted(_folders(runs), key=lambda folder: folder.name, reverse=True)
    return [folder for folder in reversed(newest[keep:]) if _may_go(folder)]


def _folders(runs: Path) -> Iterator[Path]:
    if not runs.is_dir():
        return
    for scenario in runs.iterdir():
        if scenario.is_dir() and not scenario.is_symlink() and scenario.name != LATEST:
            yield from (
                folder
                for folder in scenario.iterdir()
                if (folder / "logs").is_dir() and not folder.is_symlink()
            )


def _may_go(folder: Path) -> bool:
    """Tell whether a run passed, or was left without a verdict long ago."""
    try:
        text = (folder / "verdict.json").read_bytes()
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > UNJUDGED_SECONDS_MIN
    try:
        return msgspec.json.decode(text, type=_Judged).judgement is Judgement.VALID
    except msgspec.MsgspecError:
        return False  # what cannot be read may be what somebody is looking for
