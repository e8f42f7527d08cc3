"""The database that takes over had not yet been sent the last commits that were answered."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant

MUTANT: Final = Mutant(
    name="asynchronous-standby",
    mechanism="Runs on a database whose standby is sent what was committed only after it was answered, and takes over without it.",
    section="postgresql",
    reports=("patroni/patroni#1894", "patroni/patroni#1411"),
    scenario="database_crash",
    caught_by=(),
    harmless="A lab has one database server, which recovers on its own data: what a standby lacks is missed only once it is "
    "promoted, and no scenario promotes one. Its sibling, `synchronous-commit-off`, loses commits in the same way.",
)


def plant() -> None:
    """Change nothing: there is no standby."""
