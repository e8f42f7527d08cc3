"""Who sweeps: a lease in PostgreSQL with a term, and a fence that each of the leader's transactions passes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from service import statements
from service.errors import Refused

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from service.database import Connection, Database

SQL: Final = statements.load("service.reservation", "leadership")


class Deposed(Exception):  # noqa: N818 - a fact about this process, not a fault
    """Another leader's term has begun; this one's transaction must roll back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One leader's time in office."""

    slot: str
    holder: str
    number: int


async def elect(
    database: Database, *, slot: str, holder: str, lease: timedelta, at: datetime | None = None
) -> Term | None:
    """Win or renew the lease, or return None; asking is all that a process which does not lead runs."""

    async def attempt(connection: Connection) -> Term | None:
        seen = await SQL["peek"].row(connection, slot=slot, at=at)
        if seen is not None and seen["live"] and seen["holder"] != holder:
            return None
        number = await SQL["elect"].value(connection, slot=slot, holder=holder, lease=lease, at=at)
        return None if number is None else Term(slot=slot, holder=holder, number=number)

    return await database.autocommit(attempt)


async def fence(connection: Connection, term: Term) -> None:
    """Hold the lease still until the transaction ends; raises Deposed if the term is over."""
    if await SQL["fence"].value(connection, slot=term.slot, term=term.number, holder=term.holder) is None:
        raise Deposed


async def resign(database: Database, term: Term) -> None:
    """Give the lease back, if that can be had; else it runs out."""
    try:
        await database.autocommit(
            lambda connection: SQL["resign"].value(
                connection, slot=term.slot, term=term.number, holder=term.holder
            )
        )
    except Refused:
        return
