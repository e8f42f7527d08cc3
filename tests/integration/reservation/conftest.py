"""A node of the service on a fresh, migrated database, and people who talk to it over HTTP."""

from __future__ import annotations

import asyncio
import inspect
import secrets
import socket
import time
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from service.database import Database
from service.migrate import migrate
from service.node import Node, configured
from service.settings import Settings
from tests.integration.reservation.line import Line, laid
from tests.integration.reservation.people import TOKEN_SECRET, Person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from lastseat.lab import Lab

OWNER_SECRET = "o" * 32


@pytest.fixture
def person() -> Iterator[Callable[..., Person]]:
    """Make somebody who talks to a given port; their connections are closed with the test."""
    people: list[Person] = []
    yield lambda *arguments, **more: people.append(Person(*arguments, **more)) or people[-1]
    for one in people:
        one.close()


@dataclass(slots=True)
class Service:
    """One running node, its database, and those who use it."""

    port: int
    settings: Settings
    pool: Database
    sql: asyncpg.Connection
    node: Node
    people: list[Person] = field(default_factory=list)

    def person(self, subject: str, **more: Any) -> Person:
        self.people.append(Person(self.port, subject, **more))
        return self.people[-1]

    @property
    def admin(self) -> Person:
        return self.person("root", role="admin")

    async def resource(self, capacity: int, **more: Any) -> int:
        answer = await self.admin.post(
            "/api/resources", {"code": f"room-{secrets.token_hex(4)}", "capacity": capacity} | more
        )
        assert answer.status == 201, answer.body
        return int(answer.json["id"])

    async def row(self, table: str, row_id: int) -> dict[str, Any]:
        found = await self.sql.fetchrow(f"SELECT * FROM {table} WHERE id = $1", row_id)
        assert found is not None
        return dict(found)


@pytest.fixture(scope="session")
async def template(lab: Lab) -> str:
    """The name of a migrated database that tests copy."""
    name = "reservation_template"
    await migrate(await lab.create_database(name))
    return name


@pytest.fixture
async def dsn(lab: Lab, template: str) -> AsyncIterator[str]:
    """A migrated database of this test's own."""
    url = await lab.create_database(f"reservation_{secrets.token_hex(4)}", template=template)
    yield url
    await lab.drop_database(url)


@pytest.fixture
async def line(dsn: str) -> AsyncIterator[Line]:
    async with laid(dsn) as line:
        yield line


@pytest.fixture
async def sql(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    yield connection
    await connection.close()


@pytest.fixture
def settings(dsn: str) -> Settings:
    return settings_for(dsn)


def settings_for(dsn: str, **more: Any) -> Settings:
    defaults: dict[str, Any] = {
        "database_url": dsn,
        "redis_url": "redis://127.0.0.1:1",
        "shutdown_seconds": 1,
    }
    return Settings(token_secret=TOKEN_SECRET, owner_secret=OWNER_SECRET, **(defaults | more))


@pytest.fixture
async def pool(settings: Settings) -> AsyncIterator[Database]:
    opened = await Database.open(settings, application="test")
    yield opened
    await opened.close()


@pytest.fixture
def make_settings(dsn: str) -> Callable[..., Settings]:
    """Make settings for this test's database, some of them changed."""
    return lambda **more: settings_for(dsn, **more)


@pytest.fixture
async def silent_port() -> AsyncIterator[int]:
    """A port that takes every connection and never says a word."""
    gone = asyncio.Event()

    async def listen(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    gone.set()
    server.close()
    await server.wait_closed()


@pytest.fixture
def until() -> Callable[..., Awaitable[None]]:
    """Wait until a condition holds; the deadline names what did not come."""

    async def wait(condition: Callable[[], Any], what: str, *, within_seconds: float = 10) -> None:
        deadline = time.monotonic() + within_seconds
        while not (held := condition()) or (inspect.isawaitable(held) and not await held):
            assert time.monotonic() < deadline, f"{what} did not come within {within_seconds} s"
            await asyncio.sleep(0.01)

    return wait


@dataclass(slots=True)
class Sessions:
    """Sessions side by side, and a way to know that one of them waits for another."""

    dsn: str
    watcher: asyncpg.Connection
    opened: list[asyncpg.Connection] = field(default_factory=list)
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    async def open(self) -> asyncpg.Connection:
        self.opened.append(await asyncpg.connect(self.dsn))
        return self.opened[-1]

    async def blocked(self, session: asyncpg.Connection, work: Awaitable[Any]) -> asyncio.Task[Any]:
        """Start `work` on `session` and return once the server says that it waits for a lock."""
        task = asyncio.ensure_future(work)
        self.tasks.append(task)
        pid = session.get_server_pid()
        async with asyncio.timeout(5):
            while not await self.watcher.fetchval("SELECT cardinality(pg_blocking_pids($1)) > 0", pid):
                assert not task.done(), f"it did not wait: {task}"
                await asyncio.sleep(0.005)
        return task


@pytest.fixture
async def sessions(dsn: str, sql: asyncpg.Connection) -> AsyncIterator[Sessions]:
    made = Sessions(dsn, sql)
    yield made
    for task in made.tasks:
        task.cancel()
    await asyncio.gather(*made.tasks, return_exceptions=True)
    for session in made.opened:
        session.terminate()


@pytest.fixture
def room(sql: asyncpg.Connection) -> Callable[..., Awaitable[int]]:
    """Put a resource straight into the database; return its id."""

    async def put(capacity: int = 1, occupied: int = 0) -> int:
        made: int = await sql.fetchval(
            """INSERT INTO resources (tenant, code, capacity, occupied_count, revision, hold_ttl, offer_ttl)
               VALUES ('demo', $1, $2, $3, $3, '60 s', '60 s') RETURNING id""",
            secrets.token_hex(4), capacity, occupied,
        )  # fmt: skip
        return made

    return put


@asynccontextmanager
async def running(settings: Settings, pool: Database, sql: asyncpg.Connection) -> AsyncIterator[Service]:
    """Serve one node on a free port of the loopback interface."""
    listening = socket.create_server(("127.0.0.1", 0))
    # asyncio does it only for sockets that it made itself; else each answer waits 40 ms for the acknowledgement of its head.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    node = Node(await configured(settings, host="127.0.0.1", port=0))
    serving = asyncio.create_task(node.serve(sockets=[listening]))
    try:
        async with asyncio.timeout(10):
            while not node.started:  # noqa: ASYNC110 - uvicorn tells by a flag only
                await asyncio.sleep(0.005)
        service = Service(listening.getsockname()[1], settings, pool, sql, node)
        yield service
        for person in service.people:
            person.close()
    finally:
        node.should_exit = True
        await serving
        listening.close()


@pytest.fixture
async def service(settings: Settings, pool: Database, sql: asyncpg.Connection) -> AsyncIterator[Service]:
    """A node with default limits and no Redis."""
    async with running(settings, pool, sql) as node:
        yield node


@pytest.fixture
async def start(dsn: str, pool: Database, sql: asyncpg.Connection) -> AsyncIterator[Callable[..., Any]]:
    """Start further nodes, with other settings, on the same database."""
    async with AsyncExitStack() as stack:

        async def another(**more: Any) -> Service:
            return await stack.enter_async_context(running(settings_for(dsn, **more), pool, sql))

        yield another
