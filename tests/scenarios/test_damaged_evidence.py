"""Bugs of the bench itself: evidence that lost something, or whose clocks stepped, never convicts a healthy service."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from checker.brief import read_brief
from checker.judge import check
from checker.seal import NAME as SEAL
from checker.state import READ_KEY
from checker.trail import read_record, to_parquet
from checker.trail.decode import SPOOL
from checker.trail.record import write_record
from checker.trail.spool import Frame, Spool, frames
from checker.verdict import Judgement
from tests.scenarios.conftest import lastseat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from checker.verdict import Verdict

pytestmark = pytest.mark.proof

ROWS_LOST = 8
TRANSACTIONS_LOST = 4
STEP_NS = 50_000_000
HOUR_NS = 3_600 * 10**9


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which seats are taken, given back, handed down the line and expire."""
    ran = lastseat("run", "offer_expiry", runs=tmp_path_factory.mktemp("runs"))
    assert ran.verdict.judgement is not Judgement.INVALID, ran.said
    return ran.folder


def damaged(healthy: Path, into: Path, damage: Callable[[Path], None]) -> Verdict:
    folder = into / "damaged"
    shutil.copytree(healthy, folder, ignore=shutil.ignore_patterns(SEAL, "logs", "*.html"))
    damage(folder)
    try:
        return check(folder)
    finally:
        shutil.rmtree(folder)


def acquits(verdict: Verdict) -> None:
    convicted = [finding for finding in verdict.findings if finding.judgement is Judgement.INVALID]
    assert not convicted, [(finding.invariant, finding.counter_examples[:2]) for finding in convicted]


def respooled(folder: Path, kept: Sequence[Frame]) -> None:
    """Put these frames in the place of those that were read, as though the slot had never given the others."""
    (folder / SPOOL).unlink()
    with Spool(folder / SPOOL) as spool:
        for frame in kept:
            spool.append(*frame)
    for part in (folder / "changes").iterdir():
        part.unlink()
    record = msgspec.structs.replace(read_record(folder), frames=len(kept))
    write_record(folder, to_parquet(folder, record))


def rewritten(folder: Path, name: str, change: Callable[[pa.Table], pa.Table]) -> None:
    path = folder / f"{name}.parquet"
    pq.write_table(change(pq.read_table(path)), path)


def test_a_row_that_the_trail_lost_convicts_nobody_and_is_missed(healthy: Path, tmp_path: Path) -> None:
    spooled = list(frames(healthy / SPOOL))
    changes = [place for place, frame in enumerate(spooled) if frame.data[:1] in (b"I", b"U", b"D")]
    for lost in random.Random(1).sample(changes, ROWS_LOST):
        kept = [frame for place, frame in enumerate(spooled) if place != lost]
        verdict = damaged(healthy, tmp_path, lambda folder, kept=kept: respooled(folder, kept))
        acquits(verdict)
        assert "trail_complete" in {premise.name for premise in verdict.premises if not premise.holds}


def test_a_transaction_that_the_trail_lost_convicts_nobody_and_is_missed(
    healthy: Path, tmp_path: Path
) -> None:
    spooled = list(frames(healthy / SPOOL))
    changing = sorted({frame.xid for frame in spooled if frame.data[:1] in (b"I", b"U", b"D")})
    described = {frame.xid for frame in spooled if frame.data[:1] == b"R"}
    for lost in random.Random(2).sample(sorted(set(changing) - described), TRANSACTIONS_LOST):
        kept = [frame for frame in spooled if frame.xid != lost]
        verdict = damaged(healthy, tmp_path, lambda folder, kept=kept: respooled(folder, kept))
        acquits(verdict)
        assert "trail_complete" in {premise.name for premise in verdict.premises if not premise.holds}


@pytest.mark.parametrize("step_ns", [-HOUR_NS, -STEP_NS, STEP_NS, HOUR_NS])
@pytest.mark.parametrize("process", ["postgres", "load/0"])
def test_a_clock_that_stepped_convicts_nobody_and_is_seen(
    healthy: Path, tmp_path: Path, process: str, step_ns: int
) -> None:
    verdict = damaged(healthy, tmp_path, lambda folder: stepped(folder, process, step_ns))
    acquits(verdict)
    assert "clocks_comparable" in {premise.name for premise in verdict.premises if not premise.holds}


def stepped(folder: Path, process: str, step_ns: int) -> None:
    """Let a clock be moved halfway through the run: its readings, and all that is dated by them."""
    clocks = pq.read_table(folder / "clocks.parquet")
    of_it = pc.equal(clocks["process"], process)
    half = pc.quantile(clocks.filter(of_it)["mono_ns"], q=0.5)[0].as_py()
    since = pc.min(clocks.filter(pc.and_(of_it, pc.greater(clocks["mono_ns"], half)))["real_ns"]).as_py()
    later = pc.and_(of_it, pc.greater(clocks["mono_ns"], half))
    moved = pc.if_else(later, pc.add(clocks["real_ns"], step_ns), clocks["real_ns"])
    rewritten(folder, "clocks", lambda table: put(table, "real_ns", moved))
    if process != "postgres":
        return

    def redated(changes: pa.Table) -> pa.Table:
        late = pc.greater(changes["commit_us"], since // 1000)
        again = pc.if_else(late, pc.add(changes["commit_us"], step_ns // 1000), changes["commit_us"])
        return put(changes, "commit_us", again)

    def reread(rows: pa.Table) -> pa.Table:
        head = rows.schema.metadata
        read_us = str(int(head[READ_KEY]) + step_ns // 1000).encode()
        return rows.replace_schema_metadata(head | {READ_KEY: read_us})

    for part, change in (("changes", redated), ("state", reread)):
        for path in (folder / part).iterdir():
            rewritten(folder, f"{part}/{path.stem}", change)


def put(table: pa.Table, name: str, values: object) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)


def test_a_load_process_whose_history_is_lost_convicts_nobody_and_is_missed(
    healthy: Path, tmp_path: Path
) -> None:
    def lose(folder: Path) -> None:
        brief = read_brief(folder)
        written = msgspec.structs.replace(brief, shards=brief.shards + 1)
        (folder / "scenario.json").write_bytes(msgspec.json.encode(written))

    verdict = damaged(healthy, tmp_path, lose)
    acquits(verdict)
    assert "history_complete" in {premise.name for premise in verdict.premises if not premise.holds}


@pytest.mark.parametrize("kept", ["first half", "second half", "every other"])
def test_a_history_with_holes_convicts_nobody_and_is_missed(healthy: Path, tmp_path: Path, kept: str) -> None:
    def lose(operations: pa.Table) -> pa.Table:
        half = len(operations) // 2
        parts = {"first half": operations[:half], "second half": operations[half:]}
        return parts.get(kept, operations.take(list(range(0, len(operations), 2))))

    verdict = damaged(healthy, tmp_path, lambda folder: rewritten(folder, "operations", lose))
    acquits(verdict)
    assert "history_complete" in {premise.name for premise in verdict.premises if not premise.holds}


def test_snapshots_with_a_hole_convict_nobody(healthy: Path, tmp_path: Path) -> None:
    def lose(snapshots: pa.Table) -> pa.Table:
        third = len(snapshots) // 3
        return pa.concat_tables([snapshots[:third], snapshots[2 * third :]])

    acquits(damaged(healthy, tmp_path, lambda folder: rewritten(folder, "snapshots", lose)))
