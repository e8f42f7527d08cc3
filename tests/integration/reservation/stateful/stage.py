"""Where examples are played: nodes with connections of their own on one database that is watched."""

from __future__ import annotations

import itertools
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import asyncpg

from service.database import Database
from service.reservation import leadership, routes, sweeper
from tests.integration.reservation.stateful.commands import NODES
from tests.integration.reservation.stateful.judge import WITNESS, Judge
from tests.integration.reservation.stateful.world import World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.reservation.leadership import Term
    from service.settings import Settings
    from service.web import Operation
    from tests.integration.reservation.stateful.commands import Example

_CREATE: Final = """
INSERT INTO resources (tenant, code, capacity, per_owner_limit, hold_ttl, offer_ttl)
VALUES ($1, 'room', $2, $3, '60 s', '30 s') RETURNING id
"""


class Stage:
    """Plays one example after the other, each on a resource and with a tenant of its own."""

    def __init__(
        self, nodes: list[dict[str, Operation]], database: Database, sql: asyncpg.Connection, term: Term
    ) -> None:
        self._nodes = nodes
        self._database = database
        self._sql = sql
        self._term = term
        self._numbers = itertools.count(1)

    def __repr__(self) -> str:
        return "stage"  # hypothesis shows it beside each failing example

    async def play(self, example: Example) -> None:
        """Play an example; an AssertionError, or whatever else is raised, tells all that happened."""
        tenant = f"tenant-{next(self._numbers)}"
        resource = await self._sql.fetchval(_CREATE, tenant, example.capacity, example.limit)
        judge = Judge(sql=self._sql, resource=resource, tenant=tenant)
        world = World(
            nodes=self._nodes, database=self._database, term=self._term, judge=judge, resource=resource,
            tenant=tenant, seen=await judge.look(),
        )  # fmt: skip
        try:
            for step in example.steps:
                await world.step(step)
            await judge.compare_answers()
        except BaseException as error:
            error.add_note("\n".join([f"What happened in {example}:", *world.transcript]))
            raise


@asynccontextmanager
async def open_stage(settings: Settings) -> AsyncIterator[Stage]:
    """Set the watched stage up on a migrated database."""
    async with AsyncExitStack() as stack:
        sql = await asyncpg.connect(settings.database_url)
        stack.push_async_callback(sql.close)
        await sql.execute(WITNESS)
        await sql.execute("SET plan_cache_mode = force_generic_plan")
        pools = [await Database.open(settings, application=f"node-{n}") for n in range(NODES)]
        for pool in pools:
            stack.push_async_callback(pool.close)
        term = await leadership.elect(pools[0], slot=sweeper.SLOT, holder="test", lease=timedelta(hours=12))
        assert term is not None
        yield Stage(
            nodes=[_node(pool, settings, n) for n, pool in enumerate(pools)],
            database=pools[0],
            sql=sql,
            term=term,
        )


def _node(pool: Database, settings: Settings, number: int) -> dict[str, Operation]:
    """Return a node's operations by name.

    The second decides holds that wait for the same resource together; the last one's claims on a key lapse at once.
    """
    limits = replace(settings, holds_together=number == 1)
    if number == NODES - 1:
        # Settings refuse a lease that a transaction could outlive; here that is what is to be survived.
        object.__setattr__(limits, "idempotency_lease_seconds", 0.0)
    return {operation.name: operation for operation in routes.table(pool, limits)}
