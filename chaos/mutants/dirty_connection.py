"""A BEGIN that was given up is under way all the same: what comes after it is a savepoint inside, and rolled back with it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MUTANT: Final = Mutant(
    name="dirty-connection",
    mechanism="Gives a slow BEGIN up and begins again inside it: its COMMIT ends a savepoint, and the pool rolls back.",
    section="postgresql",
    reports=("sqlalchemy/sqlalchemy#13381",),
    scenario="pool_exhaustion",
    caught_by=("acknowledged_is_persisted",),
)
PATIENCE_SECONDS: Final = 0.03


def plant() -> None:
    """Lend connections that do not know in how many transactions they are."""
    healthy = Database.connection

    @asynccontextmanager
    async def connection(self: Database) -> AsyncIterator[Any]:
        async with healthy(self) as lent:
            yield Confused(lent)

    Database.connection = connection  # type: ignore[method-assign]  # that is how a bug is planted


class Confused:
    """A connection whose transaction may have another one round it."""

    def __init__(self, lent: Any) -> None:
        self._lent = lent
        self._inside = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lent, name)

    async def execute(self, text: str, *values: Any) -> Any:
        """Run a statement; BEGIN and COMMIT are not quite what they seem."""
        if text == "BEGIN":
            return await self._begin()
        if text == "COMMIT" and self._inside:
            await self._lent.execute("RELEASE SAVEPOINT again")
            return text
        return await self._lent.execute(text, *values)

    async def _begin(self) -> Any:
        begun = asyncio.ensure_future(self._lent.execute("BEGIN"))
        in_time, _ = await asyncio.wait([begun], timeout=PATIENCE_SECONDS)
        said = await begun
        if not in_time:
            self._inside = True
            await self._lent.execute("SAVEPOINT again")
        return said
