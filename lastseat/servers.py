"""The servers of a lab: each is started, or looked at where it was given by URL."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lastseat import elsewhere
from lastseat.postgres import Postgres
from lastseat.postgres_server import EmbeddedPostgres
from lastseat.proxy_source import obtain
from lastseat.toxiproxy import Toxiproxy, start_toxiproxy
from lastseat.valkey import EmbeddedValkey, Valkey

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from lastseat.account import Account
    from lastseat.supervision import Supervision


@dataclass(slots=True)
class Servers:
    """Starts each server, or looks at the one that was given."""

    supervision: Supervision
    account: Account | None
    logs: Path
    say: Callable[[str], None]
    ports: set[int] = field(default_factory=set)

    async def postgres(self, url: str | None) -> Postgres:
        """Start PostgreSQL, or look at the one of that URL."""
        if url:
            return await elsewhere.postgres(url)
        server = await EmbeddedPostgres.create(
            supervision=self.supervision,
            account=self.account,
            folder=self.supervision.folder / "postgres",
            log=self.logs / "postgres.log",
            taken=self.ports,
        )
        return Postgres(server.address(), server)

    async def valkey(self, url: str | None) -> Valkey:
        """Start Valkey, or look at the Redis-protocol server of that URL."""
        if url:
            return await elsewhere.valkey(url)
        server = await EmbeddedValkey.create(
            supervision=self.supervision,
            account=self.account,
            folder=self.supervision.folder / "valkey",
            log=self.logs / "valkey.log",
            taken=self.ports,
        )
        return server.facade()

    async def proxy(self, url: str | None, *, wanted: bool) -> Toxiproxy | None:
        """Build and start Toxiproxy, or look at the one of that URL; None where no link is to be broken."""
        if not wanted:
            return None
        if url:
            return await elsewhere.toxiproxy(url)
        source = await obtain(self.supervision, self.logs / "toxiproxy-build.log", self.say)
        return await start_toxiproxy(
            source,
            supervision=self.supervision,
            account=self.account,
            log=self.logs / "toxiproxy.log",
            taken=self.ports,
        )


async def at_once(
    postgres: Coroutine[Any, Any, Postgres],
    valkey: Coroutine[Any, Any, Valkey],
    proxy: Coroutine[Any, Any, Toxiproxy | None],
) -> tuple[Postgres, Valkey, Toxiproxy | None]:
    """Start all at once; the first failure stops the others and is the one raised."""
    try:
        async with asyncio.TaskGroup() as group:
            parts = (group.create_task(postgres), group.create_task(valkey), group.create_task(proxy))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return parts[0].result(), parts[1].result(), parts[2].result()
