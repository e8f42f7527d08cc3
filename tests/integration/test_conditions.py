"""What faults may wait for, asked of a real database."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import asyncpg

from lastseat.conditions import Share, Sold
from lastseat.nodes import Deployer

if TYPE_CHECKING:
    from lastseat.lab import Lab

OFFERED = """
    INSERT INTO resources (tenant, code, capacity, occupied_count, hold_ttl, offer_ttl)
    VALUES ('t', 'a', 30, 5, '1 s', '1 s'), ('t', 'b', 10, 5, '1 s', '1 s')
"""
END_IT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lastseat sold'"


async def test_what_is_sold_is_the_share_of_all_capacity_together(lab: Lab, database: str) -> None:
    await Deployer(lab=lab, environment={}).migrate(database)
    session = await asyncpg.connect(database)
    with closing(Sold(database)) as sold:
        assert await sold.ask() == 0.0, "nothing is on sale yet"
        await session.execute(OFFERED)
        assert await sold.ask() == 0.25
        await session.execute("UPDATE resources SET occupied_count = 15 WHERE code = 'a'")
        assert await sold.ask() == 0.5
    await session.close()


async def test_while_the_database_says_nothing_what_it_said_last_counts(lab: Lab, database: str) -> None:
    await Deployer(lab=lab, environment={}).migrate(database)
    session = await asyncpg.connect(database)
    await session.execute(OFFERED)
    with closing(Sold(database)) as sold:
        assert await sold.ask() == 0.25
        await session.execute("UPDATE resources SET occupied_count = 15 WHERE code = 'a'")
        assert await session.fetchval(END_IT)
        assert await sold.ask() == 0.25, "its session was ended"
        assert await sold.ask() == 0.5, "it has another"
    await session.close()


async def test_half_of_the_load_is_half_of_the_arrivals() -> None:
    share = Share(arrivals=200, through=100)
    assert await share.ask() == 0.5
