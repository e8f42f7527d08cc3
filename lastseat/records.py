"""Writes what the runner itself knows of a run as evidence: the faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
from pyarrow import parquet as pq

from checker.schemas import FAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from chaos.nemesis import FaultRecord


def write_faults(folder: Path, records: Sequence[FaultRecord]) -> None:
    """Write faults.parquet; without faults it has no row, which is evidence too."""
    rows = [msgspec.to_builtins(record) for record in records]
    pq.write_table(pa.Table.from_pylist(rows, schema=FAULTS), folder / "faults.parquet")
