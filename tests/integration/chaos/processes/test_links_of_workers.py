"""The links that workers have of their own: through each of them they work, and past none of them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from chaos.faults import Cut, LostReply, throughout
from chaos.nemesis import Nemesis
from chaos.providers import ledger
from lastseat.nodes import Deployer
from lastseat.reach import reach_of
from lastseat.workers import staffed, worker_links
from tests.integration.chaos.processes.conftest import ENVIRONMENT, enqueue
from tests.integration.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from chaos.faults import Reach
    from lastseat.lab import Lab
    from lastseat.nodes import Deployment

WORKERS = {"notifier": 1}


@pytest.fixture
async def made(lab: Lab) -> AsyncIterator[Deployment]:
    """A node and a notifier, both links of which are proxied."""
    name = f"linked_{secrets.token_hex(4)}"
    dsn = await lab.create_database(name)
    deployer = Deployer(lab=lab, environment=ENVIRONMENT, proxied=worker_links(WORKERS))
    await deployer.migrate(dsn)
    async with deployer.deploy(dsn, 1) as made, staffed(deployer, made, WORKERS, lab.folder / name):
        yield made
    await lab.drop_database(dsn)


@pytest.fixture
async def notices(made: Deployment) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(made.dsn)
    yield connection
    await connection.close()


@pytest.fixture
def linked(lab: Lab, made: Deployment) -> Reach:
    reach = reach_of(lab, made, {})
    assert set(reach.links) == {"pg-workers", "notification"}
    return reach


async def told(notices: asyncpg.Connection) -> tuple[str, int]:
    row: Any = await notices.fetchrow("SELECT state, attempt_count FROM notification_outbox")
    return row["state"], row["attempt_count"]


async def tried(notices: asyncpg.Connection) -> bool:
    return await told(notices) != ("PENDING", 0)


async def delivered(notices: asyncpg.Connection) -> None:
    async def so() -> bool:
        return (await told(notices))[0] == "DELIVERED"

    await until(so, "the notice's delivery", within_seconds=20)


async def test_a_notifier_without_its_database_claims_nothing(
    linked: Reach, notices: asyncpg.Connection
) -> None:
    async with Nemesis([throughout(inject=Cut("pg-workers"))], linked) as nemesis:
        await enqueue(notices, "cut-off-1")
        with pytest.raises(AssertionError, match="an attempt did not happen"):
            await until(lambda: tried(notices), "an attempt", within_seconds=0.5)  # ten ticks of the notifier
    assert nemesis.records[0].error is None
    await delivered(notices)


async def test_a_notifier_that_cannot_reach_the_provider_tries_again(
    linked: Reach, made: Deployment, notices: asyncpg.Connection
) -> None:
    async with Nemesis([throughout(inject=Cut("notification"))], linked) as nemesis:
        await enqueue(notices, "unsent-1")
        await until(lambda: tried(notices), "an attempt")
        assert ledger.read(made.providers["notification"].ledger) == []
    assert nemesis.records[0].error is None
    await delivered(notices)
    assert (await told(notices))[1] > 1


async def test_a_provider_whose_reply_is_lost_is_told_twice_and_acts_once(
    linked: Reach, made: Deployment, notices: asyncpg.Connection
) -> None:
    def answers() -> list[str]:
        return [entry.answer for entry in ledger.read(made.providers["notification"].ledger)]

    async with Nemesis([throughout(inject=LostReply("notification"))], linked) as nemesis:
        await enqueue(notices, "unheard-1")
        await until(answers, "the notice's arrival")
    assert nemesis.records[0].error is None
    await delivered(notices)
    first, *again = answers()
    assert first == "accepted"
    assert again
    assert set(again) == {"duplicate"}
