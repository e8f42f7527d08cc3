"""Locust's own page as the runner sees it: a process of its own, which the load processes tell what they did."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.control import PAGE_VARIABLE
from scenarios.seat import LoadError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence

    from scenarios.seat import Child, Spawn

PORT_VARIABLE = "LASTSEAT_LOAD_PAGE_PORT"
TITLE_VARIABLE = "LASTSEAT_LOAD_PAGE_TITLE"
HOST = "127.0.0.1"
"""The page is for whoever sits at this machine."""

UP_SECONDS = 15.0
_LOOK_SECONDS = 0.05
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page of one load: nothing that becomes of it can hold the load up."""

    port: int
    child: Child
    hearing: str
    plainly: Spawn

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return f"http://{HOST}:{self.port}"

    def spawn(self, role: str, argv: Sequence[str], *, env: Mapping[str, str]) -> Awaitable[Child]:
        """Start a load process that tells the page what it did."""
        return self.plainly(role, argv, env={**env, PAGE_VARIABLE: self.hearing})

    async def up(self, within_seconds: float = UP_SECONDS) -> None:
        """Wait until it can be looked at; raises LoadError, with the last lines of its log, where it cannot in time."""
        deadline = time.monotonic() + within_seconds
        while not await self._hears():
            if self.child.exited or time.monotonic() > deadline:
                raise LoadError(f"Locust's page cannot be shown on {self.url}; see {self.child.log}")
            await asyncio.sleep(_LOOK_SECONDS)  # between two looks; the deadline stands above

    async def end(self) -> None:
        """End it, if it has not ended; the lab, which started it, ends what cannot be ended here."""
        with contextlib.suppress(Exception):
            self.child.signal(signal.SIGKILL)  # it holds nothing that is not elsewhere
            await self.child.wait(_END_SECONDS)

    async def _hears(self) -> bool:
        """Tell whether it takes reports, which it does only once its address is its own."""
        try:
            _, writer = await asyncio.open_unix_connection(self.hearing)
        except OSError:
            return False
        writer.close()
        return True


@asynccontextmanager
async def showing(spawn: Spawn, *, title: str, port: int, within: Path | None = None) -> AsyncIterator[Page]:
    """Start the page on this port of the loopback address and end it with the block, at the latest.

    `title` says on it what is played. `within` is the folder for the socket's own, as for Load. It takes about a second to
    be up: `Page.up`.
    """
    with tempfile.TemporaryDirectory(prefix="lastseat-page-", dir=within) as folder:
        hearing = str(Path(folder) / "reports")
        argv = (sys.executable, "-m", "scenarios.dispatch.page")
        told = {PAGE_VARIABLE: hearing, PORT_VARIABLE: str(port), TITLE_VARIABLE: title}
        child = await spawn("page", argv, env=told)
        page = Page(port=port, child=child, hearing=hearing, plainly=spawn)
        try:
            yield page
        finally:
            await page.end()
