"""The lab's PostgreSQL as the rest of the bench sees it: its own, to be broken at will, or one that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lastseat.errors import LabError
from lastseat.family import living

if TYPE_CHECKING:
    import psutil

    from lastseat.children import Child
    from lastseat.postgres_server import Address, EmbeddedPostgres


@dataclass(slots=True)
class Postgres:
    """The PostgreSQL of a lab; `server` is None when it was there already and may not be broken.

    `no_trail` says why it does no logical decoding for the lab, and what to do about it; empty where it does.
    """

    address: Address
    server: EmbeddedPostgres | None = None
    admin_database: str = "postgres"
    no_trail: str = ""

    @property
    def host(self) -> str:
        """The address it listens on."""
        return self.address.host

    @property
    def port(self) -> int:
        """The TCP port it listens on, the same after a restart."""
        return self.address.port

    @property
    def admin_dsn(self) -> str:
        """The DSN of the maintenance database, as superuser."""
        return self.address.dsn(self.admin_database)

    @property
    def embedded(self) -> bool:
        """Whether the lab started it, and may kill and restart it."""
        return self.server is not None

    @property
    def child(self) -> Child:
        """The postmaster's process; raises LabError for a server that was there already."""
        return self._server().postmaster()

    def dsn(self, database: str, *, host: str | None = None, port: int | None = None) -> str:
        """Return the DSN of a database; `host` and `port` replace the server's by a proxied link's."""
        return self.address.dsn(database, host=host, port=port)

    def family(self) -> list[psutil.Process]:
        """Return the postmaster and all its processes, the postmaster first."""
        return living(self.child.pid)

    async def crash(self) -> None:
        """Kill -9 every process of the server at once, and wait until none exists; its data stay."""
        await self._server().crash()

    async def stop(self) -> None:
        """Shut the server down in an orderly way (fast mode); its data stay."""
        await self._server().stop()

    async def restart(self) -> None:
        """Start the stopped or crashed server on the same data and port, and wait until it answers."""
        await self._server().start()

    def _server(self) -> EmbeddedPostgres:
        if self.server is None:
            raise LabError(
                "a PostgreSQL server that was there already is not the lab's to stop or break",
                where=f"{self.host}:{self.port}",
                remedy="leave --database-url out, so that the lab starts its own",
            )
        return self.server
