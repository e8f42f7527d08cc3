"""Read what a report is drawn from: the run folder's parts, each of which may be missing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from checker.brief import Brief, read_brief

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

NS_PER_MS = 1e6
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ")
_OPERATION_INSTANTS = ("intended_ns", "sent_ns", "done_ns")
_OPERATION_COLUMNS = (
    ("op", pa.int64()),
    ("arrival", pa.int64()),
    ("race", pa.int64()),
    ("attempt", pa.int32()),
    ("kind", pa.string()),
    ("node", pa.string()),
    ("owner", pa.string()),
    ("subject", pa.string()),
    *((name, pa.int64()) for name in _OPERATION_INSTANTS),
    ("outcome", pa.string()),
    ("status", pa.int32()),
    ("code", pa.string()),
    ("created", pa.string()),
    ("error", pa.string()),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault as the nemesis recorded it; instants in ms after t0, None for what never came."""

    name: str
    kind: str
    where: str
    planned_ms: float | None
    injected_ms: float | None
    landed_ms: float | None
    healed_ms: float | None
    proof: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The readable parts of one run folder.

    `operations` has the instants in ms after t0 (`intended_ms`, `sent_ms`, `done_ms`; NaN for what never came)
    and `response_ms` and `service_ms` beside them; `samples` has `mono_ms`, `source`, `metric`, `value`.
    `missing` holds one sentence for each part that could not be read.
    """

    folder: Path
    brief: Brief | None
    started: datetime | None
    t0_ns: int
    operations: pd.DataFrame | None
    faults: tuple[Fault, ...]
    samples: pd.DataFrame | None
    missing: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """How long the load lasted, from t0 to the last instant of an operation."""
        return self.end_ms / 1e3

    @property
    def end_ms(self) -> float:
        """The last instant of an operation in ms after t0; 0 without operations."""
        if self.operations is None or self.operations.empty:
            return 0.0
        last = self.operations[["intended_ms", "sent_ms", "done_ms"]].max().max()
        return float(last) if last == last else 0.0  # noqa: PLR0124 - NaN where nothing has an instant


def read(folder: Path) -> Evidence:
    """Read a run folder; whatever is missing or broken ends up in `missing`, never in an exception."""
    missing: list[str] = []
    brief = None
    try:
        brief = read_brief(folder)
    except FileNotFoundError:
        missing.append("scenario.json is missing: links, parts and the zero of time are unknown.")
    except (OSError, msgspec.MsgspecError) as broken:
        missing.append(f"scenario.json cannot be read ({type(broken).__name__}).")
    raw = read_part(folder, "operations.parquet", missing, "latencies, rates and races are not shown")
    faults = read_part(folder, "faults.parquet", missing, "fault bands and recovery are not shown")
    samples = read_part(folder, "samples.parquet", missing, "the course of pools and queues is not shown")
    t0_ns = _zero(brief, raw)
    return Evidence(
        folder=folder,
        brief=brief,
        started=started(folder.name),
        t0_ns=t0_ns,
        operations=None if raw is None else _operations(raw, t0_ns),
        faults=() if faults is None else tuple(_fault(row, t0_ns) for row in faults.to_pylist()),
        samples=None if samples is None else _samples(samples, t0_ns),
        missing=tuple(missing),
    )


def started(name: str) -> datetime | None:
    """Return the UTC instant in a run folder's name, or None for a folder named otherwise."""
    found = _STAMP.match(name)
    try:
        return datetime.strptime(found[0], "%Y-%m-%dT%H-%M-%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


def read_part(folder: Path, name: str, missing: list[str], so: str) -> Any | None:
    """Return one Parquet part as an Arrow table, or None after adding a sentence to `missing`."""
    try:
        return pq.read_table(folder / name)
    except FileNotFoundError:
        missing.append(f"{name} is missing: {so}.")
    except (OSError, pa.ArrowException) as broken:
        missing.append(f"{name} cannot be read ({type(broken).__name__}): {so}.")
    return None


def column(table: Any, name: str, kind: Any) -> Any:
    """Return one column in the type asked for: nulls where the table lacks it or holds another type."""
    if name in table.column_names:
        try:
            return table.column(name).cast(kind)
        except pa.ArrowException:
            pass
    return pa.nulls(table.num_rows, kind)


def _zero(brief: Brief | None, operations: Any | None) -> int:
    """Return t0, or where the brief does not tell it the first intended instant."""
    if brief is not None and brief.t0_ns:
        return brief.t0_ns
    if operations is None or operations.num_rows == 0:
        return 0
    return pc.min(column(operations, "intended_ns", pa.int64())).as_py() or 0


def _operations(table: Any, t0_ns: int) -> pd.DataFrame:
    """Return the operations with instants relative to t0: as floats they would otherwise lose nanoseconds."""
    columns = {name: column(table, name, kind) for name, kind in _OPERATION_COLUMNS}
    intended, sent, done = (columns.pop(name) for name in _OPERATION_INSTANTS)
    for name, instant in (("intended_ms", intended), ("sent_ms", sent), ("done_ms", done)):
        columns[name] = _ms(instant, t0_ns)
    columns["response_ms"] = _ms(done, intended)
    columns["service_ms"] = _ms(done, sent)
    frame: pd.DataFrame = pa.table(columns).to_pandas()
    return frame


def _ms(instant: Any, since: Any) -> Any:
    """Return the distance of two ns columns in ms; subtracted as integers, since a float holds no year in ns."""
    return pc.divide(pc.subtract(instant, since).cast(pa.float64(), safe=False), NS_PER_MS)


def _fault(row: dict[str, Any], t0_ns: int) -> Fault:
    def instant(name: str) -> float | None:
        value = row.get(name)
        return None if value is None else (value - t0_ns) / NS_PER_MS

    def words(name: str) -> str:
        return str(row.get(name) or "")

    return Fault(
        name=words("fault"),
        kind=words("kind"),
        where=words("where"),
        planned_ms=instant("planned_ns"),
        injected_ms=instant("injected_ns"),
        landed_ms=instant("landed_ns"),
        healed_ms=instant("healed_ns"),
        proof=words("proof"),
        error=words("error"),
    )


def _samples(table: Any, t0_ns: int) -> pd.DataFrame:
    frame: pd.DataFrame = pa.table(
        {
            "mono_ms": _ms(column(table, "mono_ns", pa.int64()), t0_ns),
            "source": column(table, "source", pa.string()),
            "metric": column(table, "metric", pa.string()),
            "value": column(table, "value", pa.float64()),
        }
    ).to_pandas()
    return frame
