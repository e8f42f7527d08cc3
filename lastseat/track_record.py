"""The matrix of planted bugs as people read it: on the screen, and as the page of the docs that keeps the last one."""

from __future__ import annotations

import os
import platform
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from checker.verdict import Judgement
from lastseat.errors import UsageError
from lastseat.matrix import RACY_SHARE_MIN, Fate
from reports.files import replace
from reports.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lastseat.matrix import Control, Matrix, Row

_STYLE = {Fate.CAUGHT: "green", Fate.UNPROVEN: "yellow", Fate.FAILED: "yellow"}
_ALARM = "bold red"


def print_matrix(matrix: Matrix, console: Console) -> None:
    """Print who caught what, aligned on a terminal, else a line a bug; then the controls, and what cannot bite."""
    if console.is_terminal:
        console.print(_table(matrix))
    else:
        for row in matrix.rows:
            _say(console, _line(row))
    for mutant in matrix.harmless:
        _say(console, f"not planted {mutant.name}: {mutant.harmless}")
    for control in matrix.controls:
        if control.judgement is not Judgement.VALID:
            _say(console, f"control {control.scenario}: {_said(control)}", _ALARM)
    _say(console, summary(matrix))


def summary(matrix: Matrix) -> str:
    """Return the whole in a line."""
    caught = sum(row.fate is Fate.CAUGHT for row in matrix.rows)
    quiet = sum(control.judgement is Judgement.VALID for control in matrix.controls)
    return (
        f"{caught} of {counted(len(matrix.rows), 'planted bug')} caught by the invariants they name; "
        f"without a bug {quiet} of {counted(len(matrix.controls), 'scenario')} held."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """When and where a matrix was measured."""

    day: str
    machine: str
    version: str

    @classmethod
    def here(cls) -> Circumstances:
        """Return those of this moment and machine."""
        return cls(
            day=datetime.now(UTC).date().isoformat(),
            machine=f"{platform.system()} {platform.machine()}, {counted(os.cpu_count() or 1, 'processor')}",
            version=version("lastseat"),
        )


def refuse_unwritable(path: Path) -> None:
    """Raise UsageError where the page could not be written, before anything is played for it."""
    folder = path.parent
    if not folder.is_dir():
        raise UsageError(
            f"{path} cannot be written: there is no folder {folder}.", remedy="Make it, or name another file."
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as refused:
        raise UsageError(
            f"{path} cannot be written: {refused.strerror}.", remedy="Name a file in another folder."
        ) from refused


def write_page(matrix: Matrix, path: Path) -> None:
    """Write the page, whole or not at all."""
    replace(path, page(matrix, Circumstances.here()))


def page(matrix: Matrix, circumstances: Circumstances) -> str:
    """Return the page, a table a section, with what it was measured on."""
    lines = [
        "# Track record",
        "",
        _measured(circumstances),
        "",
        summary(matrix),
        "",
        _played(matrix),
    ]
    for section, rows in groupby(matrix.rows, key=lambda row: row.mutant.section):
        lines += [
            "",
            f"## {section.capitalize()}",
            "",
            "| planted bug | in | caught by | operations until caught | runs |",
            "|---|---|---|---:|---:|",
            *(_markdown(row) for row in rows),
        ]
    alarms = [control for control in matrix.controls if control.judgement is not Judgement.VALID]
    lines += ["", "## Without a bug", ""]
    lines += [f"- `{control.scenario}`: {_said(control)}" for control in alarms]
    held = [f"`{each.scenario}`" for each in matrix.controls if each.judgement is Judgement.VALID]
    lines += [f"- held: {', '.join(held) or 'none'}"]
    return "\n".join(lines) + "\n"


def _measured(circumstances: Circumstances) -> str:
    return (
        f"Measured by `lastseat mutants --markdown` on {circumstances.day}, {circumstances.machine}, "
        f"Lastseat {circumstances.version}. What each bug does, and who reported it: [planted bugs](planted-bugs.md). "
        "What *operations until caught* are: the [glossary](../glossary.md)."
    )


def _played(matrix: Matrix) -> str:
    """Say how much of what there is was played, and how much a racy bug has proved."""
    racy = [row for row in matrix.rows if row.mutant.racy]
    words = f"Played: {len(matrix.rows)} of the {counted(matrix.there, 'planted bug')} there are"
    if matrix.harmless:
        words += f", besides {len(matrix.harmless)} that cannot bite here"
    if not racy:
        return f"{words}. None of them bites only where requests meet."
    runs = sorted({len(row.attempts) for row in racy})
    each = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    return (
        f"{words}. {len(racy)} of them bite only where requests meet: judged by {each} "
        f"{'run' if runs[-1] == 1 else 'runs'} each, of which {RACY_SHARE_MIN:.0%} have to catch them."
    )


def _markdown(row: Row) -> str:
    caught_by = ", ".join(f"`{name}`" for name in row.found_by) or "–"
    if row.besides:
        caught_by += f"; besides {', '.join(f'`{name}`' for name in row.besides)}"
    cells = (
        f"`{row.mutant.name}`",
        f"`{row.mutant.scenario}`",
        caught_by,
        _operations(row),
        f"{_runs(row)}: **{row.remark}**" if row.remark else _runs(row),
    )
    return f"| {' | '.join(cells)} |"


def _table(matrix: Matrix) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("planted bug", no_wrap=True)
    table.add_column("caught by")
    for name in ("operations until caught", "runs"):
        table.add_column(name, justify="right")
    for section, rows in groupby(matrix.rows, key=lambda row: row.mutant.section):
        table.add_row(Text(section, style="dim"))
        for row in rows:
            style = _STYLE.get(row.fate, _ALARM)
            table.add_row(f"  {row.mutant.name}", _caught(row, style), _operations(row), _runs(row))
    return table


def _caught(row: Row, style: str) -> Text:
    told = Text(row.remark or ", ".join(row.found_by), style=style)
    if row.besides and row.fate is not Fate.BY_ANOTHER:  # whose remark has said it
        told.append(f"; besides {', '.join(row.besides)}", style="dim")
    return told


def _line(row: Row) -> str:
    besides = f" besides={','.join(row.besides)}" if row.besides else ""
    remark = f" ({row.remark})" if row.remark else ""
    return (
        f"{row.fate.value} {row.mutant.name} in={row.mutant.scenario} by={','.join(row.found_by) or '–'}{besides} "
        f"operations={_operations(row)} runs={row.caught}/{len(row.attempts)}{remark}"
    )


def _operations(row: Row) -> str:
    return "–" if row.operations is None else f"{row.operations:,}"


def _runs(row: Row) -> str:
    return f"{row.caught} of {len(row.attempts)}"


def _said(control: Control) -> str:
    if control.judgement is None:
        return "it could not be played to its end"
    return "; ".join(control.reasons) or control.judgement.value


def _say(console: Console, words: str, style: str = "") -> None:
    console.print(Text(words, style=style), soft_wrap=True, highlight=False)
