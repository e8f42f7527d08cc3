"""The page over all runs: what was run when, how it was judged, and the way to each report."""

from __future__ import annotations

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


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """The part of verdict.json that the index shows; everything else is skipped while decoding."""

    scenario: str
    judgement: Judgement
    seed: int
    operations: int
    profile: str
    mutant: str | None = None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One run folder; without a readable verdict it has no `told`, and `why` says what is wrong."""

    scenario: str
    folder: str
    started: datetime | None
    href: str | None
    told: _Told | None
    why: str


def render(runs_root: Path) -> str:
    """Return index.html over the newest runs below `runs_root`."""
    found = sorted(entries(runs_root), key=lambda entry: (entry.folder, entry.scenario), reverse=True)
    shown = found[:RUNS_MAX]
    by_scenario = sorted(shown, key=lambda entry: entry.scenario)
    strips = [
        (scenario, list(runs)[:STRIP_MAX])
        for scenario, runs in groupby(by_scenario, key=lambda entry: entry.scenario)
    ]
    return (
        environment()
        .get_template("index.html.j2")
        .render(entries=shown, left_out=len(found) - len(shown), strips=strips)
    )


def entries(runs_root: Path) -> list[Entry]:
    """Return every run folder; links (such as `latest`) are skipped, half-written folders are named as such."""
    found = []
    for scenario in _folders(runs_root):
        for folder in _folders(scenario):
            told, why = _verdict(folder)
            parts = [name for name in ("scenario.json", "verdict.json") if (folder / name).is_file()]
            if not parts and started(folder.name) is None:
                continue
            why = why if parts else "nothing was written yet"
            report = folder / "report.html"
            href = f"{quote(scenario.name)}/{quote(folder.name)}/report.html" if report.is_file() else None
            found.append(
                Entry(
                    scenario=scenario.name,
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
        return None, "no verdict: still running, or cut short"
    except (OSError, msgspec.MsgspecError) as broken:
        return None, f"verdict.json cannot be read ({type(broken).__name__})"
