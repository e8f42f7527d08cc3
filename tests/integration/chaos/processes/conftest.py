"""A lab of its own, to be broken: two nodes, two expiry workers, a notifier and its provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.reach import reach_of
from lastseat.waiting import until
from lastseat.workers import staffed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from chaos.fault import Reach
    from lastseat.nodes import Deployment

WORKERS = {"expiry": 2, "notifier": 1}
# Leases must outlast every timeout, and a killed notifier's must lapse within a test.
ENVIRONMENT = {
    "RESERVATION_TOKEN_SECRET": "t" * 32,
    "RESERVATION_OWNER_SECRET": "o" * 32,
    "RESERVATION_SWEEP_TICK_SECONDS": "0.1",
    "RESERVATION_SWEEP_BUDGET_SECONDS": "0.5",
    "RESERVATION_LEADER_LEASE_SECONDS": "2",
    "RESERVATION_TRANSACTION_TIMEOUT_MS": "1000",
    **dict.fromkeys(
        (
            f"RESERVATION_{name}_TIMEOUT_MS"
            for name in ("STATEMENT", "LOCK", "IDLE_IN_TRANSACTION", "TCP_USER", "COMMAND")
        ),
        "1000",
    ),
    "RESERVATION_NOTIFICATION_TICK_SECONDS": "0.05",
    "RESERVATION_NOTIFICATION_CLAIM_SECONDS": "2",
    "RESERVATION_NOTIFICATION_RETRY_INITIAL_SECONDS": "0.1",
    "RESERVATION_NOTIFICATION_RETRY_MAX_SECONDS": "0.2",
    "RESERVATION_NOTIFICATION_TIMEOUT_MS": "400",
}

ENQUEUE = """
INSERT INTO notification_outbox (tenant, delivery_id, kind, payload, next_attempt_at, created_at)
SELECT 'demo', id, 'offer-created', '{"to": "buyer"}', clock_timestamp(), clock_timestamp() FROM unnest($1::text[]) AS id
"""


async def enqueue(sql: asyncpg.Connection, *deliveries: str) -> None:
    await sql.execute(ENQUEUE, list(deliveries))


@pytest.fixture(scope="module")
async def breakable(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    async with Lab.start(folder=tmp_path_factory.mktemp("breakable"), with_toxiproxy=False) as lab:
        yield lab


@pytest.fixture(scope="module")
async def service(breakable: Lab) -> AsyncIterator[Deployment]:
    dsn = await breakable.create_database("broken")
    deployer = Deployer(lab=breakable, environment=ENVIRONMENT)
    await deployer.migrate(dsn)
    async with deployer.deploy(dsn, 2) as made, staffed(deployer, made, WORKERS, breakable.folder):
        yield made


@pytest.fixture(scope="module")
async def progress() -> list[float]:
    """The share of a load that is done, to be set by a test."""
    return [0.0]


@pytest.fixture(scope="module")
async def reach(breakable: Lab, service: Deployment, progress: list[float]) -> Reach:
    async def ask() -> float:
        return progress[0]

    reach = reach_of(breakable, service, {"progress": ask})

    async def led() -> bool | None:
        assert reach.leader
        return True if await reach.leader() else None

    await until(led, within_seconds=15, failing=lambda _: pytest.fail("no worker came to lead"))
    return reach


@pytest.fixture
async def sql(service: Deployment) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(service.dsn)
    yield connection
    await connection.execute("TRUNCATE notification_outbox")
    await connection.close()
