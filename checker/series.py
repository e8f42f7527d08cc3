"""A Parquet file that grows row by row during a run, with a bounded number of rows in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import pyarrow as pa
from pyarrow import parquet as pq

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


class Series:
    """Rows of one schema, appended; the file is whole after close and not before."""

    def __init__(self, path: Path, schema: pa.Schema, *, batch_rows: int = 1_024) -> None:
        self.rows = 0
        self._schema = schema
        self._batch_rows = batch_rows
        self._pending: list[tuple[object, ...]] = []
        self._writer = pq.ParquetWriter(path, schema)

    def append(self, *row: object) -> None:
        """Add one row, in the order of the schema."""
        self._pending.append(row)
        self.rows += 1
        if len(self._pending) >= self._batch_rows:
            self._write()

    def close(self) -> None:
        """Write what is pending and finish the file; closing twice is harmless."""
        if self._pending:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        columns = zip(*self._pending, strict=True)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self._pending.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
