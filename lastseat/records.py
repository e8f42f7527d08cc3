"""Writes what the runner itself knows of a run as evidence: faults and effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
from pyarrow import parquet as pq

from chaos.providers import ledger
from checker.schemas import EFFECTS, FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from chaos.nemesis import FaultRecord


def write_faults(folder: Path, records: Sequence[FaultRecord]) -> None:
    """Write faults.parquet; without faults it has no row, which is evidence too."""
    rows = [msgspec.to_builtins(record) for record in records]
    pq.write_table(pa.Table.from_pylist(rows, schema=FAULTS), folder / "faults.parquet")


def write_effects(folder: Path, ledgers: Iterable[Path]) -> None:
    """Write effects.parquet from the providers' ledgers, a row for each request; without providers it has none."""
    rows = [
        {name: getattr(entry, name) for name in EFFECTS.names}
        for path in ledgers
        for entry in ledger.read(path)
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=EFFECTS), folder / "effects.parquet")
