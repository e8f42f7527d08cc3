"""Our two invariants of linearizability beside Porcupine, on the same histories of one counter.

Without a trail: the calls alone, as Porcupine gets them. With one: the commits as well, judged by three invariants,
since the order is given there and what remains is to hold it against capacity, answers and refusals.
Porcupine is fetched by Go into a scratch module.
"""

from __future__ import annotations

import csv
import os
import resource
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import counter_histories
import duckdb
import msgspec
import pyarrow as pa
import synthetic

from checker.brief import read_brief, write_brief
from checker.judge import check
from checker.linear import Undecided, first_impossible
from checker.quoting import literal
from checker.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from counter_histories import Deed

CAPACITY: Final = 20
GOAL_SECONDS: Final = 2.0
PORCUPINE: Final = "github.com/anishathalye/porcupine@v1.3.1"
PORCUPINE_SECONDS: Final = 60
PORCUPINE_BYTES: Final = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
"""A search that remembers all that it tried ends by itself, before it takes the machine with it."""
_NO_ROOM: Final = ("out of memory", "cannot allocate memory", "failed to create new OS thread")
FETCH_SECONDS: Final = 180.0
WITH_TRAIL: Final = ("seats_linearize", "never_oversold", "sold_out_is_true")
CASES: Final = (
    ("true", 10_000, 10),
    ("true", 100_000, 50),
    ("broken", 1_000, 50),
    ("broken", 100_000, 50),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """How long it took, and whether an order was found; None: it was not decided."""

    seconds: float
    fits: bool | None
    cpu_seconds: float | None = None

    def __str__(self) -> str:
        """Say both, and the processor's time where it is known."""
        said = {True: "fits", False: "does not fit", None: "undecided"}[self.fits]
        cpu = "" if self.cpu_seconds is None else f" (CPU {self.cpu_seconds:.2f} s)"
        return f"{self.seconds:.2f} s{cpu}, {said}"


@dataclass(slots=True)
class Watch:
    """Runs from its making on: on the wall, and on the processor."""

    _began: float = field(default_factory=time.monotonic)
    _cpu: float = field(default_factory=time.process_time)

    def stop(self, *, fits: bool | None) -> Timed:
        """Return what it showed, and what was found meanwhile."""
        return Timed(
            seconds=time.monotonic() - self._began, fits=fits, cpu_seconds=time.process_time() - self._cpu
        )


def table() -> list[str]:
    """Return the comparison as a table."""
    lines = [
        "| history | operations | clients | without a trail | with a trail | Porcupine | ratio |",
        "|---|---:|---:|---|---|---|---:|",
    ]
    with tempfile.TemporaryDirectory(prefix="lastseat-benchmark-") as scratch:
        porcupine = _porcupine(Path(scratch))
        for kind, operations, clients in CASES:
            make = counter_histories.true_history if kind == "true" else counter_histories.broken_history
            capacity = min(CAPACITY, clients // 2)
            deeds = make(operations, clients, capacity)
            ours, trail = without_trail(deeds, capacity), with_trail(deeds, capacity, Path(scratch))
            theirs = None if porcupine is None else beside(porcupine, deeds, capacity)
            ratio = "–" if theirs is None else f"{theirs.seconds / ours.seconds:.1f}"
            lines.append(
                f"| {kind} | {operations:,} | {clients} | {ours} | {trail} "
                f"| {theirs or 'no Go here'} | {ratio} |"
            )
    ratio = (
        f"The ratio is Porcupine's time to ours without a trail; Porcupine is given up after {PORCUPINE_SECONDS} s or "
        f"at half of the machine's memory. "
        f"Goal for ours: {GOAL_SECONDS:g} s at 100,000 operations."
    )
    lines += ["", ratio]
    return lines


def without_trail(deeds: Sequence[Deed], capacity: int) -> Timed:
    """Judge by what the clients saw alone."""
    calls = [deed.call() for deed in deeds]
    watch = Watch()
    try:
        impossible = first_impossible(capacity, calls)
    except Undecided:
        return watch.stop(fits=None)
    return watch.stop(fits=impossible is None)


def with_trail(deeds: Sequence[Deed], capacity: int, scratch: Path) -> Timed:
    """Judge by the order of commits: the whole of `check`, reading the evidence and its soundness included."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    _write(deeds, capacity, folder)
    watch = Watch()
    verdict = check(folder)
    timed = watch.stop(fits={Judgement.VALID: True, Judgement.INVALID: False}.get(verdict.judgement))
    shutil.rmtree(folder)
    return timed


def beside(program: Path, deeds: Sequence[Deed], capacity: int) -> Timed:
    """Give the same calls to Porcupine."""
    history = program.with_name("history.csv")
    with history.open("w", newline="") as out:
        csv.writer(out).writerows((deed.client, deed.kind, deed.sent_ns, deed.done_ns) for deed in deeds)
    watch = Watch()
    ended = subprocess.run(
        [str(program), str(history), str(capacity), str(PORCUPINE_SECONDS)],
        capture_output=True, text=True, check=False, timeout=PORCUPINE_SECONDS + 60, preexec_fn=_bounded,
    )  # fmt: skip
    if ended.returncode and any(words in ended.stderr for words in _NO_ROOM):
        # Nobody is left to say how long it took without its start and its reading.
        return Timed(seconds=watch.stop(fits=None).seconds, fits=None)
    ended.check_returncode()
    said = ended.stdout.split()
    return Timed(seconds=float(said[1]), fits={"Ok": True, "Illegal": False}.get(said[0]))


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (PORCUPINE_BYTES, PORCUPINE_BYTES))


def _porcupine(scratch: Path) -> Path | None:
    """Build the program that runs Porcupine; None where Go, or its proxy, is not there."""
    go = shutil.which("go")
    if go is None:
        return None
    module = scratch / "porcupine"
    module.mkdir()
    shutil.copy(Path(__file__).with_name("porcupine_counter.go.txt"), module / "main.go")
    try:
        for words in (("mod", "init", "beside"), ("get", PORCUPINE), ("build", "-o", "beside", ".")):
            subprocess.run([go, *words], cwd=module, check=True, capture_output=True, timeout=FETCH_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return module / "beside"


# A take is a hold made in its commit, a give its cancellation; the counter's row says what it counts, sold out or not.
_CHANGED: Final = """
CREATE TABLE commits AS
SELECT *, row_number() OVER (ORDER BY at_ns) AS xid,
    CAST(sum(CASE kind WHEN 'take' THEN 1 ELSE -1 END) OVER (ORDER BY at_ns) AS BIGINT) AS occupied
FROM deeds WHERE kind <> 'refused'
"""
_ROW: Final = "'r' AS new_id, 't' AS new_tenant, '{capacity}' AS new_capacity, CAST({occupied} AS VARCHAR) AS new_occupied, '1' AS new_revision, 'OPEN' AS new_state, NULL::VARCHAR AS new_owner_limit"
_HOLD: Final = """
CAST(hold AS VARCHAR) AS new_id, 't' AS new_tenant, 'r' AS new_resource, 'buyer-' || client AS new_owner, '1' AS new_quantity,
CASE kind WHEN 'take' THEN 'ACTIVE' ELSE 'CANCELLED' END AS new_state, 'key-' || hold AS new_key, '1' AS new_revision,
NULL::VARCHAR AS new_created_at, NULL::VARCHAR AS new_expires_at, NULL::VARCHAR AS new_ended_at
"""
_ASKED: Final = """
SELECT op, 0::INTEGER AS shard, op AS arrival, NULL::BIGINT AS race, 1::INTEGER AS attempt,
    CASE kind WHEN 'give' THEN 'cancel' ELSE 'hold' END AS kind, 'a' AS node, 't' AS tenant, 'buyer-' || client AS owner,
    CASE kind WHEN 'give' THEN CAST(hold AS VARCHAR) ELSE 'r' END AS subject, 1::BIGINT AS quantity, 'key-' || op AS key, 'd' AS request_digest,
    sent_ns AS intended_ns, sent_ns, done_ns, CASE kind WHEN 'refused' THEN 'fail' ELSE 'ok' END AS outcome,
    CASE kind WHEN 'refused' THEN 409 ELSE 201 END::INTEGER AS status, CASE kind WHEN 'refused' THEN 'SOLD_OUT' END AS code, false AS replayed,
    CASE kind WHEN 'take' THEN CAST(hold AS VARCHAR) END AS created, 'b' AS body_digest, NULL::VARCHAR AS error
FROM deeds
"""


def _write(deeds: Sequence[Deed], capacity: int, folder: Path) -> None:
    """Write evidence in which each deed committed at the instant of its effect."""
    for part in ("base", "changes", "state"):
        (folder / part).mkdir(parents=True)
    names = ("op", "client", "kind", "sent_ns", "at_ns", "done_ns", "hold")
    columns = pa.table({name: [getattr(deed, name) for deed in deeds] for name in names})
    with duckdb.connect(":memory:") as db:
        db.register("deeds", columns)
        db.execute(_CHANGED)
        row = _ROW.format(capacity=capacity, occupied="occupied")
        heads = {
            place: synthetic.HEAD.format(position=place, action=action, ahead=synthetic.AHEAD_NS)
            for place, action in ((0, "'U'"), (1, "CASE kind WHEN 'take' THEN 'I' ELSE 'U' END"))
        }
        base = "0::UBIGINT AS commit_lsn, 0::BIGINT AS position, 0::UBIGINT AS change_lsn, NULL::UINTEGER AS xid, NULL::BIGINT AS commit_us, 'B' AS action"
        stood = _ROW.format(capacity=capacity, occupied=0)
        for place, query in {
            "operations": _ASKED,
            "changes/resources": f"SELECT {heads[0]}, {row} FROM commits ORDER BY at_ns",
            "changes/holds": f"SELECT {heads[1]}, {_HOLD} FROM commits ORDER BY at_ns",
            "base/resources": f"SELECT {base}, {stood}",
            "base/holds": f"SELECT {base}, {_HOLD} FROM commits LIMIT 0",
            "state/resources": f"SELECT {row} FROM commits ORDER BY at_ns DESC LIMIT 1",
            "state/holds": f"SELECT {_HOLD} FROM commits QUALIFY at_ns = max(at_ns) OVER (PARTITION BY hold)",
        }.items():
            db.execute(f"COPY ({query}) TO {literal(folder / f'{place}.parquet')} (FORMAT parquet)")
        synthetic.watched(db, folder, len(deeds))
    synthetic.described(folder, len(deeds), len(deeds))
    write_brief(folder, msgspec.structs.replace(read_brief(folder), invariants=WITH_TRAIL))
