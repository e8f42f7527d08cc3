"""The notice is committed on a connection of its own: before what it tells of, and also if that never is."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chaos.mutants import Mutant
from service.database import Database
from service.reservation import outbox

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from service.database import Connection
    from service.reservation.outbox import Notice

MUTANT: Final = Mutant(
    name="publish-outside-commit",
    mechanism="Writes the notice on a second connection, outside the transaction of the change that it tells of.",
    section="outbox",
    reports=(
        "openfoodfoundation/openfoodnetwork#7530",
        "laravel/framework#35266",
        "frappe/frappe#20236",
        "NEventStore/NEventStore#54",
    ),
    scenario="torn_handover",
    caught_by=("outbox_matches_events",),
)

T = TypeVar("T")
_enqueue: Final = outbox.enqueue
_transaction: Final[Any] = Database.transaction
_database: Final[ContextVar[Database]] = ContextVar("the database whose transaction runs")


def plant() -> None:
    """Let the outbox know the pool, and take a connection of its own from it."""
    Database.transaction = transaction  # type: ignore[assignment, method-assign]  # a method is replaced, which mypy forbids
    outbox.enqueue = enqueue


async def transaction(database: Database, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Run a transaction as the service does, and remember of which database it is."""
    _database.set(database)
    result: T = await _transaction(database, work)
    return result


async def enqueue(connection: Connection, tenant: str, notices: Sequence[Notice], at: datetime) -> int:  # noqa: ARG001 - as the service calls it
    """Put notices in the outbox, at once and for good, whatever becomes of the transaction on `connection`."""
    return await _database.get().autocommit(lambda other: _enqueue(other, tenant, notices, at))
