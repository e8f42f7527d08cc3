"""How long `check` takes and how much memory it needs as histories grow; and linearizability beside Porcupine.

Evidence of 0.1, 1 and 10 million operations is made by the column (see synthetic.py), half of all operations on one
resource, and each judged in a process of its own. Then the same histories of one counter are given to our two
invariants of linearizability and to Porcupine (see porcupine.py). Without Go the second part says so.

    python benchmarks/checker.py [--sizes 0.1 1 10] [--only check|linear] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import linearize
import synthetic
from machine import Neighbours

from checker.judge import check
from checker.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOAL_EXPONENT: Final = 1.1
GOAL_SECONDS, GOAL_GIB = 180.0, 4.0
CHILD_SECONDS: Final = 1_800.0
BYTES_EACH: Final = 400
"""Disk that an operation's evidence takes, its making included, with room to spare."""


class Told(msgspec.Struct, frozen=True):
    """What a judging process says at its end."""

    seconds: float
    cpu_seconds: float
    gib: float
    operations: int
    changes: int
    valid: int
    judged: int
    refuted: tuple[str, ...]
    late: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One size, and what judging it came to."""

    told: Told
    made_seconds: float
    others_cores: float


def judge(folder: Path) -> Told:
    """Judge a folder in this process; memory is its peak."""
    began = time.monotonic()
    verdict = check(folder)
    seconds = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    asked = [finding for finding in verdict.findings if finding.looked_at]
    return Told(
        seconds=seconds,
        cpu_seconds=used.ru_utime + used.ru_stime,
        gib=used.ru_maxrss / 1024**2,
        operations=verdict.operations,
        changes=verdict.changes,
        valid=sum(finding.judgement is Judgement.VALID for finding in asked),
        judged=len(asked),
        refuted=tuple(each.invariant for each in verdict.findings if each.judgement is Judgement.INVALID),
        late=tuple(each.invariant for each in verdict.findings if "not done" in (each.reason or "")),
    )


def measure(operations: int) -> Size:
    """Make evidence of one size, and judge it in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="lastseat-benchmark-") as scratch:
        free = shutil.disk_usage(scratch).free
        if free < operations * BYTES_EACH:
            raise SystemExit(f"{operations:,} operations need {operations * BYTES_EACH / 1e9:.0f} GB of disk")
        began = time.monotonic()
        folder = Path(scratch) / "run"
        synthetic.make(folder, operations)
        made_seconds = time.monotonic() - began
        neighbours = Neighbours()
        said = subprocess.run(
            [sys.executable, __file__, "--judge", str(folder)],
            env={**os.environ, "TMPDIR": scratch},
            stdout=subprocess.PIPE,
            timeout=CHILD_SECONDS,
            check=True,
        ).stdout
        _, others_cores = neighbours.cores()
    return Size(
        told=msgspec.json.decode(said, type=Told), made_seconds=made_seconds, others_cores=others_cores
    )


def exponent(sizes: Sequence[Size]) -> float:
    """Return the power of the operations with which the CPU time grows between the two largest, where start-up is least."""
    before, last = (size.told for size in sizes[-2:])
    return math.log(last.cpu_seconds / before.cpu_seconds) / math.log(last.operations / before.operations)


def table(sizes: Sequence[Size]) -> list[str]:
    """Return the first part as a table."""
    lines = [
        "| operations | changes | check | CPU | peak memory | invariants judged | others used |",
        "|---:|---:|---:|---:|---:|---|---:|",
    ]
    for size in sizes:
        told = size.told
        problem = "".join(
            f"; {what}: {', '.join(names)}"
            for what, names in (("alarmed", told.refuted), ("too late", told.late))
            if names
        )
        lines.append(
            f"| {told.operations:,} | {told.changes:,} | {told.seconds:.1f} s | {told.cpu_seconds:.1f} s | {told.gib:.2f} GiB "
            f"| {told.valid} of {told.judged} valid{problem} | {size.others_cores:.1f} cores |"
        )
    if len(sizes) > 1:
        growth = (
            f"CPU time grows with the {exponent(sizes):.2f}th power of the operations (goal ≤ {GOAL_EXPONENT}); "
            f"goal for 10 million: {GOAL_SECONDS:g} s and {GOAL_GIB:g} GiB."
        )
        lines += ["", growth]
    return lines


def _parts(given: argparse.Namespace) -> Iterator[list[str]]:
    """Yield each part as soon as it is measured."""
    if given.only != "linear":
        sizes = [measure(round(size * 1e6)) for size in given.sizes]
        yield [f"{os.cpu_count()} cores.", "", *table(sizes), ""]
    if given.only != "check":
        yield linearize.table()


def main() -> int:
    """Read the command line, measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=float, nargs="+", default=[0.1, 1, 10], help="millions of operations")
    parser.add_argument("--only", choices=("check", "linear"))
    parser.add_argument("--markdown", type=Path, help="also write the tables into this file")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.judge is not None:
        sys.stdout.buffer.write(msgspec.json.encode(judge(given.judge)))
        return 0
    lines: list[str] = []
    for part in _parts(given):
        print("\n".join(part), flush=True)
        lines += part
    if given.markdown is not None:
        given.markdown.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
