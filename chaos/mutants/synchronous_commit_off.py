"""Commits are answered before they are written: whoever was told of the last of them was told of nothing.

PostgreSQL's manual says so of the setting. No report was found of somebody who lost a sale by it; those named here are of
other stores whose log is written later in the same way.
"""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant

MUTANT: Final = Mutant(
    name="synchronous-commit-off",
    mechanism="Runs on a database that answers a COMMIT before it is written down.",
    section="postgresql",
    reports=("scylladb/scylladb#16872", "cockroachdb/pebble#2920"),
    scenario="database_crash",
    caught_by=("acknowledged_is_persisted",),
    racy=True,
    schema=(
        """
        DO $$ BEGIN
            EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
        END $$
        """,
    ),
)


def plant() -> None:
    """Change nothing in this process: the bug is in how its database is set up."""
