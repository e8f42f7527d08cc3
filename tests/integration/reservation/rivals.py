"""Rivals for one row: what they ask for, the lock that keeps all of them from it, and the moment in which they wait."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from service.reservation.holds import Order

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


def an_order(room: int, key: str, **more: Any) -> Order:
    return Order(
        **({"tenant": "demo", "owner_digest": f"owner of {key}", "key": key, "resource": room} | more)
    )


@asynccontextmanager
async def locked(sql: Any, room: int) -> AsyncIterator[None]:
    """Keep everybody from deciding about the resource."""
    async with sql.transaction():
        await sql.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", room)
        yield


async def waiting(until: Callable[..., Any], sql: Any, sessions: int = 1) -> None:
    """Wait until so many sessions wait for the row; in a transaction only the view of locks does not stand still."""
    asked = "SELECT count(*) FROM pg_locks WHERE NOT granted"

    async def are() -> bool:
        return bool(await sql.fetchval(asked) == sessions)

    await until(are, f"{sessions} sessions that wait for the row")
