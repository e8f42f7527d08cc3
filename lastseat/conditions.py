"""What faults may wait for: shares from 0 to 1 that are asked for until they are reached."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import asyncpg

from checker.session import GONE

CONDITIONS: Final = ("progress", "sold")
ASK_SECONDS = 2.0
_SOLD: Final = "SELECT coalesce(sum(occupied_count)::float8 / nullif(sum(capacity), 0), 0) FROM resources"
_SILENT: Final = (*GONE, asyncpg.PostgresError)


@dataclass(slots=True, kw_only=True)
class Share:
    """How much of the load is done: the share of all arrivals that are through, whatever each of them took."""

    arrivals: int
    through: int = 0

    async def ask(self) -> float:
        """Return it as a share from 0 to 1."""
        return min(1.0, self.through / self.arrivals)


class Sold:
    """How much of all capacity is taken, by holds too: asked of the database directly, over one session until `close`.

    While the database does not answer, which a fault may see to, it is what was heard last.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._heard = 0.0
        self._session: asyncpg.Connection | None = None
        self._turn = asyncio.Lock()

    async def ask(self) -> float:
        """Return it as a share from 0 to 1."""
        async with self._turn:  # several faults may wait for it
            try:
                self._heard = await self._asked()
            except _SILENT:
                self.close()
        return self._heard

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.terminate()
            self._session = None

    async def _asked(self) -> float:
        if self._session is None:
            self._session = await asyncpg.connect(
                self._dsn, timeout=ASK_SECONDS, server_settings={"application_name": "lastseat sold"}
            )
        return float(await self._session.fetchval(_SOLD, timeout=ASK_SECONDS))
