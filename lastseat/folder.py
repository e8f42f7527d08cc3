"""Run folders: where a run's evidence is kept, and how a person names one."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from lastseat.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

LATEST = "latest"
UP = "up"
"""Where `lastseat up` keeps its logs, beside the folders of scenarios."""
MUTANTS = "mutants"
"""Where `lastseat mutants` keeps a folder for each planted bug, and one of its scenario's name for each control."""
MARK = "turn.json"
SAME_SECOND_MAX = 1_000


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in turn.json from the beginning, so that a run which never gets any further can be told from others.

    `season` is the same for all runs of one command, and of no other.
    """

    season: str
    profile: str
    mutant: str | None = None


def create(runs: Path, scenario: str) -> Path:
    """Make `runs/<scenario>/<UTC timestamp>` and return it; two runs of one second get different folders."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    parent = runs / scenario
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(SAME_SECOND_MAX):
            folder = parent / (stamp if attempt == 0 else f"{stamp}-{attempt + 1}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            for room in ("logs", "journal", "spool"):
                (folder / room).mkdir()
            return folder.resolve()
    except OSError as refused:
        raise UsageError(
            f"The run folder cannot be made in {runs}: {refused.strerror}.",
            remedy="Free the path, or name another folder with --runs-dir.",
        ) from refused
    raise UsageError(f"{parent} already holds {SAME_SECOND_MAX} runs of this second.", remedy="Try again.")


def write_mark(folder: Path, mark: Mark) -> None:
    """Write turn.json."""
    (folder / MARK).write_bytes(msgspec.json.encode(mark) + b"\n")


def read_mark(folder: Path) -> Mark | None:
    """Read turn.json; None where it is not there, or not to be read."""
    try:
        return msgspec.json.decode((folder / MARK).read_bytes(), type=Mark)
    except (OSError, msgspec.MsgspecError):
        return None


def of_scenario(runs: Path, scenario: str) -> list[Path]:
    """Return the run folders of a scenario, the newest first."""
    try:
        found = [folder for folder in (runs / scenario).iterdir() if (folder / "logs").is_dir()]
    except OSError:
        return []
    return sorted((folder for folder in found if not folder.is_symlink()), key=age, reverse=True)


def age(folder: Path) -> tuple[str, int]:
    """Return what run folders are ordered by: their second, and their number within it."""
    stamp, _, number = folder.name.partition("Z-")
    return stamp.removesuffix("Z"), int(number) if number.isdecimal() else 1


def point_latest(runs: Path, folder: Path) -> None:
    """Let `runs/latest` point to this run, atomically; where links cannot be made there is no `latest`."""
    link = runs / LATEST
    fresh = runs / f".{LATEST}.{os.getpid()}"
    try:
        fresh.symlink_to(os.path.relpath(folder, runs))
        fresh.replace(link)
    except OSError:
        fresh.unlink(missing_ok=True)


def find(named: Path) -> Path:
    """Resolve the run folder that a person named; raises UsageError when it is none."""
    try:
        folder = named.resolve()
    except (OSError, RuntimeError) as refused:  # Python 3.11 calls a loop of links a RuntimeError
        raise UsageError(
            f"There is no run folder {named}: {refused}.",
            remedy="Mend the link, or name a folder under runs/; `lastseat run` makes one.",
        ) from refused
    if not folder.is_dir():
        raise UsageError(
            f"There is no run folder {named}.",
            remedy="Name a folder under runs/, such as runs/latest; `lastseat run` makes one.",
        )
    if not (folder / "scenario.json").is_file() and (folder / "journal").is_dir():
        raise UsageError(
            f"{named} holds a run that was not played to its end: scenario.json, which is written then, is missing.",
            remedy="Its logs/ tell how far it came; play it again.",
        )
    if not (folder / "scenario.json").is_file():
        raise UsageError(
            f"{named} is not a run folder: it has no scenario.json.",
            remedy="Name the folder of one run, such as runs/latest, not its parent.",
        )
    return folder
