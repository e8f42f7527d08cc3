"""A pool that has lost a connection counts as closed: when the database is there again, the node does not go back to it."""

from __future__ import annotations

from typing import Any, Final

from asyncpg.pool import PoolConnectionHolder

from chaos.mutants import Mutant
from service.database import Database

MUTANT: Final = Mutant(
    name="pool-never-reconnects",
    mechanism="Lends and opens no connection to the database any more once a node's pool has lost one: it refuses everything for good.",
    section="postgresql",
    reports=("tokio-rs/toasty#678", "r2dbc/r2dbc-pool#68", "buggins/ddbc#124"),
    scenario="database_blip",
    caught_by=("recovers_after_heal",),
)


def plant() -> None:
    """Let the pools of nodes, and not those of workers, be gone after their first loss."""
    healthy_open, healthy_acquire = Database.open, PoolConnectionHolder.acquire
    of_nodes: list[Any] = []
    lent: set[Any] = set()
    gone: list[Any] = []

    async def open_pool(settings: Any, **given: Any) -> Database:
        database = await healthy_open(settings, **given)
        if given.get("for_commands"):
            of_nodes.append(database._pool)
        return database

    async def acquire(self: Any) -> Any:
        if not _among(of_nodes, self._pool):
            return await healthy_acquire(self)
        if self in lent and not self.is_connected():
            gone.append(self._pool)
        if _among(gone, self._pool):
            raise ConnectionError("the pool has lost a connection")
        proxy = await healthy_acquire(self)
        lent.add(self)
        return proxy

    Database.open = open_pool  # type: ignore[method-assign]  # that is how a bug is planted
    PoolConnectionHolder.acquire = acquire


def _among(pools: list[Any], pool: Any) -> bool:
    return any(each is pool for each in pools)
