"""Names and texts as they stand in SQL, for PostgreSQL and DuckDB alike."""

from __future__ import annotations


def quote(name: str) -> str:
    """Quote an identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: object) -> str:
    """Quote a text, or what prints as one; only where the statement takes no parameter."""
    return "'" + str(text).replace("'", "''") + "'"
