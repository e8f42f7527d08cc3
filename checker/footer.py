"""What the end of an evidence file tells: which of the target's columns it holds, and how many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow.parquet as pq

from checker.errors import EvidenceError

if TYPE_CHECKING:
    from pathlib import Path

PREFIX: Final = "new_"
"""What stands before each of the target's own columns."""


class Footer(NamedTuple):
    """The target's own columns in an evidence file, without their prefix, and how many rows there are."""

    columns: tuple[str, ...]
    rows: int


def read_footer(path: Path) -> Footer:
    """Read the end of an evidence file; raises EvidenceError if it is no Parquet."""
    try:
        footer = pq.read_metadata(path)
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{path.parent.name}/{path.name} cannot be read: {error}") from error
    names = footer.schema.to_arrow_schema().names
    own = tuple(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))
    return Footer(own, footer.num_rows)
