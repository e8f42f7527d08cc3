"""Write the files of a report into a run folder, each whole or not at all."""

# ruff: noqa: PLC0415 - pandas and Matplotlib take a second to import, which `lastseat --help` must not pay

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.files import replace

if TYPE_CHECKING:
    from pathlib import Path

    from checker.verdict import Verdict


def write(folder: Path, verdict: Verdict) -> Path:
    """Write report.html, junit.xml, summary.md and quantiles.csv into `folder`; return the path of report.html.

    A part of the evidence that is missing or unreadable is named in the report and never stops it. The same
    folder and verdict give the same bytes. Raises OSError where the folder cannot be written.
    """
    from reports import evidence, junit, latency, markdown, page, recovery

    run = evidence.read(folder)
    tables = latency.tables(run)
    replace(folder / "junit.xml", junit.render(verdict, run.started, run.seconds))
    replace(folder / "quantiles.csv", latency.csv(tables))
    scores = recovery.scorecard(run)
    replace(folder / "summary.md", markdown.render(verdict, tables, scores))
    report = folder / "report.html"
    replace(report, page.render(verdict, run, tables, scores))
    return report


def write_index(runs_root: Path) -> Path:
    """Write index.html over all run folders below `runs_root` (scenario/time); return its path."""
    from reports import index

    path = runs_root / "index.html"
    replace(path, index.render(runs_root))
    return path


def warm() -> None:
    """Import everything that a report needs, and draw one figure: what a warm drawing process does at its start."""
    from reports import page, plots

    page.environment()
    plots.blank()
