"""The Parquet file of one table's changes, written in parts where its columns change, and joined at the end.

A table nearly always stays as it is and sends whole rows; then its one part is the file. A part is begun anew when
DDL changes the columns, or when a row comes with an unchanged TOASTed column (replica identity not FULL): such parts
carry a column that names what is missing, and joining fills it from the row before.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa

from checker.quoting import literal, quote
from checker.schemas import CHANGE_HEAD
from checker.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from checker.tables import Table

# Names the columns that a part's row lacks; it cannot be a target's own column, those begin with `new_`.
MISSING: Final = "missing"
OLD: Final = "old_digest"
"""The digest of the row before, as the change itself told it (replica identity FULL); null where it did not."""
_SEPARATOR: Final = "\x1f"
_NULL: Final = "\x00"  # which no text of PostgreSQL's holds
_BATCH_ROWS: Final = 8_192

Values = tuple[str | None, ...]
Head = tuple[int, int, int, int, int, str]


class Parts:
    """Collects the changes of one table in order, a batch in memory at a time."""

    def __init__(self, table: Table, folder: Path) -> None:
        self.count = 0
        self._table = table
        self._folder = folder
        self._columns = table.columns
        self._seen = dict.fromkeys(table.columns)
        self._lacks = False
        self._part: Series | None = None
        self._files: list[Path] = []

    def reshape(self, columns: tuple[str, ...]) -> None:
        """From here on, rows have these columns."""
        if columns != self._columns:
            self._end_part()
            self._columns = columns
            self._seen |= dict.fromkeys(columns)

    def add(
        self, head: Head, values: Values, missing: list[str] | None = None, *, old: Values | None = None
    ) -> None:
        """Add one change; `missing` names the columns that were not sent, `old` is the row before as it was told."""
        if missing and not self._lacks:
            self._end_part()
            self._lacks = True
        part = self._part or self._begin_part()
        # Where DDL has changed the columns, what was told before and after it cannot be compared.
        before = digest(old) if old is not None and self._columns == self._table.columns else None
        if self._lacks:
            part.append(*head, before, *values, missing)
        else:
            part.append(*head, before, *values)
        self.count += 1

    def finish(self, base: Path) -> Path:
        """Write the one file; missing columns are filled from the rows before and from those in `base`."""
        if not self._files:
            self._begin_part()
        self._end_part()
        target = self._folder / f"{self._table.name}.parquet"
        if len(self._files) == 1 and not self._lacks:
            self._files[0].rename(target)
        else:
            self._join(base, target)
            for file in self._files:
                file.unlink()
        return target

    def _begin_part(self) -> Series:
        fields = [
            *CHANGE_HEAD,
            (OLD, pa.uint64()),
            *((f"new_{column}", pa.string()) for column in self._columns),
        ]
        if self._lacks:
            fields.append((MISSING, pa.list_(pa.string())))
        self._files.append(self._folder / f"{self._table.name}.parquet.part{len(self._files)}")
        self._part = Series(self._files[-1], pa.schema(fields), batch_rows=_BATCH_ROWS)
        return self._part

    def _end_part(self) -> None:
        if self._part is not None:
            self._part.close()
            self._part = None

    def _join(self, base: Path, target: Path) -> None:
        heads = ", ".join([*(quote(field.name) for field in CHANGE_HEAD), OLD])
        fills = ", ".join(
            self._fill(column) if self._lacks else quote(f"new_{column}") for column in self._seen
        )
        key = ", ".join(quote(f"new_{column}") for column in self._table.key)
        sources = [*self._files, *([base] if self._lacks and base.exists() else [])]
        with duckdb.connect() as connection:
            connection.execute(
                f"""
                COPY (
                  SELECT * FROM (
                    SELECT {heads}, {fills} FROM read_parquet($sources, union_by_name = true)
                    WINDOW so_far AS (
                      PARTITION BY {key} ORDER BY commit_lsn, position ROWS UNBOUNDED PRECEDING)
                  ) WHERE action <> 'B' ORDER BY commit_lsn, position
                ) TO {literal(target)} (FORMAT parquet)
                """,  # noqa: S608 - identifiers are quoted, paths are literals
                {"sources": [str(source) for source in sources]},
            )

    def _fill(self, column: str) -> str:
        """Return the last value of a column that was sent for this key, wrapped so that a sent null is a value too."""
        name = quote(f"new_{column}")
        sent = f"NOT coalesce(list_contains({MISSING}, {literal(column)}), false)"
        return f"(last_value(CASE WHEN {sent} THEN {{'v': {name}}} END IGNORE NULLS) OVER so_far).v AS {name}"


def digest(values: Values) -> int:
    """Return the 64-bit digest of a row in text; `digest_sql` computes the same in DuckDB."""
    whole = _SEPARATOR.join(_NULL if value is None else value for value in values)
    return int.from_bytes(md5(whole.encode(), usedforsecurity=False).digest()[8:], "little")


def digest_sql(columns: Sequence[str]) -> str:
    """Return an expression for the digest of the row that stands in these columns."""
    parts = ", ".join(f"coalesce({quote(column)}, chr(0))" for column in columns)
    return f"md5_number_lower(concat_ws(chr(31), {parts}))"
