"""The lab's own PostgreSQL and Valkey as parts that faults may break."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import redis.asyncio as redis

from chaos.parts import PartError
from lastseat.errors import LabError
from lastseat.sessions import on_the_wire, redis_line, with_postgres
from lastseat.turns import Turns, asked_to_end, ended, is_running, present

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from lastseat.postgres import Postgres
    from lastseat.sessions import Session
    from lastseat.valkey import Valkey

MARK = "lastseat:mark"
MARK_SECONDS = 3_600
"""Long enough for any fault; the bench leaves no key behind that never ends."""


@dataclass(slots=True)
class PostgresPart:
    """The lab's own PostgreSQL, all its processes together."""

    server: Postgres
    name: str = "postgres"
    _turns: Turns = field(default_factory=Turns)

    @property
    def running(self) -> bool:
        """Whether the postmaster has not ended."""
        return is_running(lambda: self.server.child)

    @property
    def pid(self) -> int:
        """The postmaster's number. Raises PartError."""
        return present(lambda: self.server.child).pid

    async def converse(self) -> Session:
        """Open a session of the superuser that was answered once. Raises Unwell."""
        return await with_postgres(self.server.admin_dsn)

    async def kill(self) -> str:
        """Kill -9 all its processes, and wait until none exists. Raises PartError."""

        async def crash() -> str:
            postmaster, many = self.server.child, len(self.server.family())
            await self.server.crash()
            return f"{ended(postmaster.exit_code)}, as were all {many} processes"

        return await self._turns.take(self.name, crash)

    async def terminate(self) -> str:
        """Shut it down in fast mode; by force where it does not. Raises PartError."""

        async def stop() -> str:
            postmaster = self.server.child
            try:
                await self.server.stop()
            except LabError:
                await self.server.crash()
                raise
            return ended(postmaster.exit_code)

        return await self._turns.take(self.name, stop)

    async def start(self) -> None:
        """Start it on the same data if it has ended, and wait through its recovery. Raises PartError."""

        async def start() -> None:
            if not self.running:
                await self.server.restart()

        await self._turns.take(self.name, start)

    async def wall_clock_lead_seconds(self) -> float:
        """Refuse: its clock is this machine's. Raises PartError."""
        raise PartError("the clock of PostgreSQL is this machine's")


@dataclass(slots=True)
class RedisPart:
    """The lab's own Valkey; snapshots go to `folder`."""

    server: Valkey
    folder: Path
    name: str = "redis"
    _turns: Turns = field(default_factory=Turns)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return is_running(lambda: self.server.child)

    @property
    def pid(self) -> int:
        """The process's number. Raises PartError."""
        return present(lambda: self.server.child).pid

    async def converse(self) -> Session:
        """Open a session that has signed in. Raises Unwell."""
        greeting = f"AUTH {self.server.password}\r\n".encode()
        return await on_the_wire(
            self.name,
            self.server.host,
            self.server.port,
            question=b"PING\r\n",
            greeting=greeting,
            read=redis_line,
        )

    async def kill(self) -> str:
        """Kill -9; what was not saved is lost. Raises PartError."""

        async def kill() -> str:
            return ended(await self.server.child.kill())

        return await self._turns.take(self.name, kill)

    async def terminate(self) -> str:
        """Ask it to end; by force where it does not. Raises PartError."""

        async def terminate() -> str:
            return await asked_to_end(self.server.child)

        return await self._turns.take(self.name, terminate)

    async def start(self) -> None:
        """Start it empty, if it has ended. Raises PartError."""

        async def start() -> None:
            if not self.running:
                await self.server.restart()

        await self._turns.take(self.name, start)

    async def wall_clock_lead_seconds(self) -> float:
        """Refuse: its clock is this machine's. Raises PartError."""
        raise PartError("the clock of Redis is this machine's")

    async def write_mark(self, text: str) -> None:
        """Put a mark among the content. Raises PartError."""
        await self._ask(lambda client: client.set(MARK, text, ex=MARK_SECONDS))

    async def read_mark(self) -> str:
        """Read the mark again; empty when it is gone. Raises PartError."""
        return await self._ask(lambda client: client.get(MARK)) or ""

    async def flush(self) -> None:
        """Drop all content. Raises PartError."""
        await self._ask(lambda client: client.flushall())

    async def save(self) -> Path:
        """Write a snapshot. Raises PartError."""
        return await self._turns.take(self.name, lambda: self.server.save(self.folder / "older.rdb"))

    async def roll_back(self, snapshot: Path) -> None:
        """Kill it, and start it with the content of a snapshot. Raises PartError."""

        async def roll_back() -> None:
            await self.server.crash()
            await self.server.restart(snapshot=snapshot)

        await self._turns.take(self.name, roll_back)

    async def _ask(self, command: Callable[[Any], Awaitable[Any]]) -> Any:
        async def ask() -> Any:
            async with redis.from_url(self.server.url(), decode_responses=True) as client:
                return await command(client)

        return await self._turns.take(self.name, ask)
