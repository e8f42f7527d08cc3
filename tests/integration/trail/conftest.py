"""Tables to be written to on the shared server, and a lab whose own server may be broken."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import asyncpg
import pytest

from lastseat.lab import Lab
from tests.integration.trail.server import execute

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def sql(database: str) -> AsyncIterator[asyncpg.Connection]:
    """A session in an empty database with a table of many types and one with a key alone as its identity."""
    connection = await asyncpg.connect(database)
    await connection.execute(
        """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TABLE seats (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer, small smallint, name text, padded char(4),
          ok boolean, at timestamptz, lasting interval, token uuid, raw bytea, body jsonb, price numeric(12, 2),
          ratio double precision, tags text[], feeling mood, address inet,
          twice integer GENERATED ALWAYS AS (n * 2) STORED);
        ALTER TABLE seats REPLICA IDENTITY FULL;
        CREATE TABLE notes (id integer PRIMARY KEY, body text, word text);
        ALTER TABLE notes ALTER body SET STORAGE EXTERNAL;
        """
    )
    yield connection
    await connection.close()


@pytest.fixture(scope="session")
async def breakable(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """A lab of this folder's own: its PostgreSQL is broken on purpose."""
    async with Lab.start(folder=tmp_path_factory.mktemp("broken"), with_toxiproxy=False) as lab:
        yield lab


@pytest.fixture
async def dsn(breakable: Lab) -> str:
    """The DSN of a database with one table, on the server that may be broken."""
    dsn = await breakable.create_database(f"test_{secrets.token_hex(4)}")
    await execute(dsn, "CREATE TABLE notes (id integer PRIMARY KEY, word text)")
    return dsn
