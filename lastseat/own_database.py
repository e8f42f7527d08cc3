"""A database of each run's own: a copy of the template, without what would mask the planted bug."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from chaos import mutants

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lastseat.ahead import Ahead
    from lastseat.lab import Lab

STATEMENT_SECONDS = 10.0


@asynccontextmanager
async def database(
    lab: Lab, ahead: Ahead, name: str, template: str, mutant: str | None
) -> AsyncIterator[str]:
    """Have a database of the run's own while the block runs; it is left to be dropped, which needs a checkpoint."""
    dsn = await ahead.database(name, template)
    try:
        await unmask(mutant, dsn)
        yield dsn
    finally:
        lab.leave_behind(dsn)


async def unmask(mutant: str | None, dsn: str) -> None:
    """Take away the constraints that would mask the planted bug, before the trail begins."""
    statements = mutants.discover()[mutant].schema if mutant else ()
    if not statements:
        return
    connection = await asyncpg.connect(dsn, timeout=STATEMENT_SECONDS)
    try:
        for statement in statements:
            await connection.execute(statement, timeout=STATEMENT_SECONDS)
    finally:
        await connection.close(timeout=STATEMENT_SECONDS)
