"""What the next run of a season will need, made while the one before it settles, when nobody waits for a processor."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Self

from lastseat.errors import LabError, UsageError
from scenarios.load import Load

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from types import TracebackType

    from lastseat.lab import Lab
    from scenarios.seat import Spawn

LOG = "load-ahead.log"
"""Where they write, in the lab's own folder, until they are told whose run they play."""


class Ahead:
    """The load processes and the database of the next run, waiting for it; where they are not there, a run makes its own."""

    def __init__(self, lab: Lab) -> None:
        """Take the lab that they are for; nothing is made yet."""
        self._lab = lab
        self._databases: dict[str, str] = {}
        self._waiting: Load | None = None
        self._leaving = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Have nothing waiting."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes that no run has taken; a database goes with the lab."""
        await self._leaving.aclose()

    async def call(self, run: str | None, template: str) -> None:
        """Start the processes of the next run, if there is one, and copy its database; where that fails, it makes its own.

        Whatever is wrong then, it is that run which fails.
        """
        if run is None:
            return
        sockets = self._lab.supervision.folder
        spawn = partial(self._lab.spawn, log=str(sockets / LOG))
        with suppress(LabError, UsageError, OSError):
            self._waiting = await self._leaving.enter_async_context(Load(spawn, within=sockets))
            self._databases[run] = await self._lab.create_database(run, template)

    async def database(self, run: str, template: str) -> str:
        """Return the DSN of a run's database: the one that waits, or one made now. Raises LabError."""
        return self._databases.pop(run, None) or await self._lab.create_database(run, template)

    @asynccontextmanager
    async def load(self, folder: Path, spawn: Spawn | None = None) -> AsyncIterator[Load]:
        """Have the load of a run that is kept in `folder` while the block runs: what waits, or one of its own.

        Its own are started by `spawn`, where it has a way of its own to do so, too.
        """
        waiting, self._waiting = self._waiting, None
        async with self._leaving, AsyncExitStack() as own:
            self._leaving = AsyncExitStack()
            if waiting is None or waiting.lost:
                load = Load(spawn or self._lab.spawn, within=self._lab.supervision.folder)
                waiting = await own.enter_async_context(load)
            waiting.log_folder = folder / "logs"
            yield waiting
