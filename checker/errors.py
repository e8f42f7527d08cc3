"""Why evidence cannot be judged at all."""

from __future__ import annotations

from typing import Final

import duckdb

_NO_SPACE: Final = ("No space left on device", "max_temp_directory_size")


class EvidenceError(Exception):
    """The evidence cannot be read as described; says which file, table or column is wrong, and how."""


class NoRoomError(EvidenceError):
    """Nothing is known to be wrong with the evidence: there is too little memory or disk to judge it in."""


def refused(where: object, error: duckdb.Error) -> EvidenceError:
    """Return what keeps evidence from being judged, as DuckDB tells it."""
    short = isinstance(error, duckdb.OutOfMemoryException) or any(words in str(error) for words in _NO_SPACE)
    return (NoRoomError if short else EvidenceError)(f"{where}: {error}")
