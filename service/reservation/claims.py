"""How many seats of one resource one owner may have, hold, be offered or wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from service import errors, statements
from service.errors import Refused

if TYPE_CHECKING:
    from service.database import Connection

SQL: Final = statements.load("service.reservation", "claims")


async def within_limit(connection: Connection, room: Any, owner: str, more: int) -> None:
    """Raise Refused (OWNER_LIMIT_REACHED) if the owner may not have `more` seats of the locked resource `room`."""
    limit = room["per_owner_limit"]
    if limit is None:
        return
    if await SQL["of_owner"].value(connection, resource=room["id"], owner=owner) + more > limit:
        raise Refused(errors.OWNER_LIMIT_REACHED)
