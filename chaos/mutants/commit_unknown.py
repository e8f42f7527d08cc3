"""A COMMIT whose answer was lost counts as one that failed: the client is told that nothing happened."""

from __future__ import annotations

from typing import Any, Final

from chaos.mutants import Mutant
from service import database

MUTANT: Final = Mutant(
    name="commit-unknown",
    mechanism="Tells the client for certain that nothing happened, where only the answer to a COMMIT was lost.",
    section="postgresql",
    reports=("jruby/activerecord-jdbc-adapter#1216", "get-convex/convex-backend#559", "vitessio/vitess#2085"),
    scenario="database_blip",
    caught_by=("refused_left_no_trace",),
)


def plant() -> None:
    """Let every loss count as one from before anything was sent."""
    healthy = database._translated

    class Hopeful(healthy):  # type: ignore[misc, valid-type]  # that is how a bug is planted
        def __init__(self, connection: Any, *, sent: bool) -> None:
            del sent
            super().__init__(connection, sent=False)

    database._translated = Hopeful  # type: ignore[misc]  # as above
