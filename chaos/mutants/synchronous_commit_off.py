"""Commits are answered before they are written: whoever was told of the last of them was told of nothing."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant

MUTANT: Final = Mutant(
    name="synchronous-commit-off",
    mechanism="Runs on a database that answers a COMMIT before it is written down.",
    section="postgresql",
    reports=("vitessio/vitess#2085",),
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
