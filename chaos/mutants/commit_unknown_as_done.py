"""The work was done, so the client is told so: what became of its COMMIT is not looked at."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors
from service.database import Database
from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MUTANT: Final = Mutant(
    name="commit-unknown-as-done",
    mechanism="Reports success where the connection was lost at the COMMIT, as if it had been carried out.",
    section="postgresql",
    reports=("jruby/activerecord-jdbc-adapter#1216", "get-convex/convex-backend#559", "vitessio/vitess#2085"),
    scenario="database_crash",
    caught_by=("acknowledged_is_persisted",),
    racy=True,
)
SLOW_SECONDS: Final = 0.1


def plant() -> None:
    """Keep what the work came to, and report it whether or not its COMMIT is heard of again."""
    healthy = Database._one_transaction

    async def one_transaction(self: Database, work: Callable[[Any], Awaitable[Any]]) -> Any:
        results: list[Any] = []

        async def kept(connection: Any) -> Any:
            results.append(await work(connection))
            await asyncio.sleep(SLOW_SECONDS)  # what is still to be done before the COMMIT
            return results[0]

        try:
            return await healthy(self, kept)
        except Refused as refused:
            if not results or refused.refusal is not errors.OUTCOME_UNKNOWN:
                raise
        return results[0]

    Database._one_transaction = one_transaction  # type: ignore[method-assign]  # that is how a bug is planted
