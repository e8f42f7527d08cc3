"""The constraints of the service's schema that would mask a planted bug, and the statements that take them away."""

from __future__ import annotations

from typing import Final

NO_CAPACITY_CHECK: Final = "ALTER TABLE resources DROP CONSTRAINT resources_never_oversold"


def any_move(table: str) -> str:
    """Let the states of a table move as they like."""
    return f"DROP TRIGGER {table}_moves ON {table}"
