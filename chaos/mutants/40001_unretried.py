"""Transactions were made stricter, and nobody tries again the one that PostgreSQL asks to be tried again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import database
from service.database import Database

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MUTANT: Final = Mutant(
    name="40001-unretried",
    mechanism="Runs transactions at REPEATABLE READ, and lets a serialization failure out to the client.",
    section="postgresql",
    reports=(
        "medusajs/medusa#3206",
        "interledger-deprecated/five-bells-ledger#388",
        "SDU-eScience/UCloud#2917",
    ),
    scenario="lock_order",
    caught_by=("errors_are_earned",),
    racy=True,
)


def plant() -> None:
    """Raise the isolation of what takes several statements, and take the retry away."""
    healthy = Database.transaction

    async def transaction(self: Database, work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def strictly(connection: Any) -> Any:
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return await work(connection)

        return await healthy(self, strictly)

    Database.transaction = transaction  # type: ignore[method-assign]  # that is how a bug is planted
    database._RETRIED = ()  # type: ignore[misc, assignment]  # as above
