"""One lab of real servers for the whole test session, and a fresh database for each test that asks."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from lastseat.lab import Lab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture(scope="session")
async def lab(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """PostgreSQL, Valkey and Toxiproxy, shared: a test that breaks one starts a lab of its own instead."""
    async with Lab.start(folder=tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
async def database(lab: Lab) -> AsyncIterator[str]:
    """The DSN of an empty database of this test's own, dropped afterwards."""
    dsn = await lab.create_database(f"test_{secrets.token_hex(4)}")
    yield dsn
    await lab.drop_database(dsn)


@pytest.fixture
async def redis_url(lab: Lab) -> str:
    """The URL of the lab's Redis database, emptied first."""
    await lab.flush_redis()
    return lab.redis_url
