"""The page over all runs: what was run when, how it was judged, and the way to each report."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from checker.verdict import Judgement
from reports.evidence import started
from reports.page import environment

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

RUNS_MAX = 1_000
STRIP_MAX = 24
PROOFS = "mutants"
"""The folder beside those of scenarios in which every planted bug has a folder of runs that are to be caught."""
SILENT_SECONDS_MIN = 900.0
"""A run under way says something in its logs, or ends, far sooner."""


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """The part of verdict.json that the index shows; everything else is skipped while decoding."""

    scenario: str
    judgement: Judgement
    seed: int
    operations: int
    profile: str
    mutant: str | None = None
    reasons: tuple[str, ...] = ()


class _Meant(msgspec.Struct, frozen=True, kw_only=True):
    """The part of turn.json that tells whether a run without a verdict had a bug planted."""

    mutant: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run folder; without a readable verdict it has no `told`, and `why` says what is wrong."""

    scenario: str
    mutant: str | None
    folder: str
    started: datetime | None
    href: str | None
    told: _Told | None
    why: str


def render(runs_root: Path) -> str:
    """Return index.html over the newest runs below `runs_root`."""
    found = _newest(entries(runs_root))
    shown = found[:RUNS_MAX]
    proofs = _newest(entries(runs_root / PROOFS, below=f"{PROOFS}/"))
    return (
        environment()
        .get_template("index.html.j2")
        .render(
            entries=shown,
            left_out=len(found) - len(shown),
            strips=_strips(shown),
            proofs=len(proofs),
            proof_strips=_strips(proofs),
        )
    )


def _newest(found: list[Entry]) -> list[Entry]:
    return sorted(found, key=lambda entry: (entry.folder, entry.scenario), reverse=True)


def _strips(newest: list[Entry]) -> list[tuple[str, str, list[Entry]]]:
    """Return the newest runs of each scenario, those with a planted bug apart: they are meant to be violated."""

    def row(entry: Entry) -> tuple[str, str]:
        # A folder of proofs bears the bug's own name, which need not be said twice.
        return entry.scenario, "" if entry.mutant in (None, entry.scenario) else str(entry.mutant)

    return [(*names, list(runs)[:STRIP_MAX]) for names, runs in groupby(sorted(newest, key=row), key=row)]


def entries(runs_root: Path, *, below: str = "") -> list[Entry]:
    """Return every run folder, with links that begin with `below`; links (such as `latest`) are skipped, half-written folders are named as such."""
    found = []
    for scenario in _folders(runs_root):
        for folder in _folders(scenario):
            told, why = _verdict(folder)
            parts = [name for name in ("scenario.json", "verdict.json") if (folder / name).is_file()]
            if not parts and started(folder.name) is None:
                continue
            report = folder / "report.html"
            href = (
                f"{below}{quote(scenario.name)}/{quote(folder.name)}/report.html"
                if report.is_file()
                else None
            )
            found.append(
                Entry(
                    scenario=scenario.name,
                    mutant=told.mutant if told else _meant(folder),
                    folder=folder.name,
                    started=started(folder.name),
                    href=href,
                    told=told,
                    why=why,
                )
            )
    return found


def _folders(parent: Path) -> list[Path]:
    try:
        return [path for path in parent.iterdir() if not path.is_symlink() and path.is_dir()]
    except OSError:
        return []  # pruned while we looked


def _verdict(folder: Path) -> tuple[_Told | None, str]:
    try:
        return msgspec.json.decode((folder / "verdict.json").read_bytes(), type=_Told), ""
    except FileNotFoundError:
        return None, _unjudged(folder)
    except (OSError, msgspec.MsgspecError) as broken:
        return None, f"verdict.json cannot be read ({type(broken).__name__})"


def _unjudged(folder: Path) -> str:
    """Say why there is no verdict; of one that was written to just now nobody can tell whether it is under way."""
    if time.time() - _last_written(folder) < SILENT_SECONDS_MIN:
        return "no verdict: still running, or cut short"
    if (folder / "scenario.json").is_file():
        return "no verdict: played to its end, but never judged; lastseat check does it"
    return "no verdict: cut short before it was played to its end"


def _last_written(folder: Path) -> float:
    try:
        parts = (folder, *folder.iterdir(), *(folder / "logs").glob("*"))
        return max(part.stat().st_mtime for part in parts)
    except OSError:
        return time.time()  # somebody is at it


def _meant(folder: Path) -> str | None:
    try:
        return msgspec.json.decode((folder / "turn.json").read_bytes(), type=_Meant).mutant
    except (OSError, msgspec.MsgspecError):
        return None
