"""The lab: the real servers and processes of a run, up in a second and gone without a trace."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import redis.asyncio as redis

from lastseat import databases
from lastseat.account import server_account, temporary_folder
from lastseat.children import Child, Start
from lastseat.errors import LabError
from lastseat.leftovers import PREFIX
from lastseat.ports import free_port
from lastseat.proxy_source import in_silence
from lastseat.room import FOR_RUNS, FOR_SERVERS, check_disk
from lastseat.servers import Servers, at_once
from lastseat.supervision import Supervision
from lastseat.waiting import call_off

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from lastseat.postgres import Postgres
    from lastseat.toxiproxy import Toxiproxy
    from lastseat.valkey import Valkey


@dataclass(slots=True, kw_only=True)
class Lab:
    """Everything that runs; made by `Lab.start`, ended at the end of its `async with`.

    `environment_marker` is the value of LASTSEAT_LAB in every process of the lab.
    """

    folder: Path
    environment_marker: str
    supervision: Supervision
    postgres: Postgres
    valkey: Valkey
    proxy: Toxiproxy | None
    ports: set[int]
    _databases: list[str] = field(default_factory=list)
    _left: list[str] = field(default_factory=list)
    _dropping: set[asyncio.Task[None]] = field(default_factory=set)

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        *,
        folder: Path,
        database_url: str | None = None,
        redis_url: str | None = None,
        toxiproxy_url: str | None = None,
        with_toxiproxy: bool = True,
        say: Callable[[str], None] = in_silence,
    ) -> AsyncIterator[Lab]:
        """Bring up the servers, those given by URL excepted, with logs in `folder`/logs; end everything afterwards.

        `say` is told what takes long. Raises LabError when a part fails, UsageError when a given server may not or cannot be used.
        """
        logs = folder.resolve() / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        account = server_account()
        temporary = temporary_folder(account)
        check_disk(logs, where=folder, remedy=FOR_RUNS)
        check_disk(temporary, where=temporary, remedy=FOR_SERVERS)
        marker = secrets.token_hex(8)
        supervision = await Supervision.begin(
            folder=temporary / f"{PREFIX}{marker}", marker=marker, log=logs / "supervisor.log"
        )
        try:
            servers = Servers(supervision, account, logs, say)
            postgres, valkey, proxy = await at_once(
                servers.postgres(database_url),
                servers.valkey(redis_url),
                servers.proxy(toxiproxy_url, wanted=with_toxiproxy),
            )
            lab = cls(
                folder=folder,
                environment_marker=marker,
                supervision=supervision,
                postgres=postgres,
                valkey=valkey,
                proxy=proxy,
                ports=servers.ports,
            )
            try:
                yield lab
            finally:
                await lab._drop_databases()
        finally:
            await supervision.end()

    @property
    def redis_url(self) -> str:
        """The URL of the Redis-protocol server, past any proxy."""
        return self.valkey.url()

    @property
    def toxiproxy(self) -> Toxiproxy:
        """The proxy server; raises LabError in a lab that was started without one."""
        if self.proxy is None:
            raise LabError(
                "this lab was started without a proxy server", remedy="start it with with_toxiproxy=True"
            )
        return self.proxy

    def free_port(self) -> int:
        """Return a port on 127.0.0.1 that nobody listens on, and that this lab has given to no one else."""
        return free_port(self.ports)

    async def create_database(self, name: str, template: str | None = None) -> str:
        """Create a database (a copy of `template`, one of the lab's that nobody may be using) and return its DSN.

        In a server that was there already it gets a name that no other can have, and is dropped with the lab.
        """
        actual = self._called(name)
        await databases.create(self.postgres.admin_dsn, actual, template and self._called(template))
        self._databases.append(actual)
        return self.postgres.dsn(actual)

    def _called(self, name: str) -> str:
        """Return what a database of this name is called in the server."""
        return name if self.postgres.embedded else f"lastseat_{self.environment_marker}_{name}"

    async def drop_database(self, dsn: str) -> None:
        """Drop a database that this lab created, with its replication slots."""
        name = urlsplit(dsn).path.lstrip("/")
        if name not in self._databases:
            raise LabError(f"database {name} was not created by this lab, which drops no other")
        await databases.drop(self.postgres.admin_dsn, name)
        self._databases.remove(name)

    def leave_behind(self, dsn: str) -> None:
        """Have a database dropped some time: by `drop_left`, or with the lab."""
        self._left.append(urlsplit(dsn).path.lstrip("/"))

    def drop_left(self) -> None:
        """Drop what was left behind beside whatever comes next; what could not be dropped goes with the lab."""
        while self._left:
            name = self._left.pop()
            self._databases.remove(name)
            task = asyncio.create_task(self._try_to_drop(name))
            self._dropping.add(task)
            task.add_done_callback(self._dropping.discard)

    async def _try_to_drop(self, name: str) -> None:
        try:
            await databases.drop(self.postgres.admin_dsn, name)
        except LabError:
            self._databases.append(name)

    async def flush_redis(self) -> None:
        """Remove every key of the lab's Redis database."""
        async with redis.from_url(self.redis_url) as client:
            await client.flushdb()

    async def spawn(
        self,
        role: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log: str | None = None,
        cwd: Path | None = None,
    ) -> Child:
        """Start a process that ends with the lab; `env` is added to the runner's, `log` is a name in logs/, or a path."""
        start = Start(
            role=role,
            argv=tuple(argv),
            env={**os.environ, **(env or {})},
            cwd=cwd or Path.cwd(),
            log=self.folder.resolve() / "logs" / (log or f"{role}.log"),
        )
        return await self.supervision.spawn(start)

    async def _drop_databases(self) -> None:
        if self.postgres.embedded:  # they end with the server's data folder
            await call_off(tuple(self._dropping), within_seconds=databases.ANSWER_SECONDS)
            return
        await asyncio.gather(*self._dropping, return_exceptions=True)  # each statement has its bound
        for name in list(self._databases):
            await databases.drop(self.postgres.admin_dsn, name)
