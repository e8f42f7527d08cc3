"""One lab of real servers for the whole test session, and a fresh database for each test that asks."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from lastseat import season as seasons
from lastseat.lab import Lab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lastseat.course import Course
    from lastseat.docket import Turn


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


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> list[Lab]:
    """The lab of each turn, as soon as that is laid out."""
    seen: list[Lab] = []
    made = seasons._course

    def course(turn: Turn, lab: Lab, place: int, page_port: int | None) -> Course:
        seen.append(lab)
        return made(turn, lab, place, page_port)

    monkeypatch.setattr(seasons, "_course", course)
    return seen
