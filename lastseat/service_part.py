"""A node or a worker as a part that faults may break."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from chaos.launch_faults import without_crash_points
from chaos.parts import PartError
from lastseat.children import tail
from lastseat.ports import LOOPBACK
from lastseat.sessions import http_answer, on_the_wire
from lastseat.turns import Turns, asked_to_end, ended, running

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from lastseat.children import Child
    from lastseat.sessions import Session


@dataclass(slots=True, kw_only=True)
class ServicePart:
    """A node or a worker, under its role in `children`; `ready` waits until a started one answers on its port."""

    name: str
    children: MutableMapping[str, Child]
    port: int
    ready: Callable[[Child], Awaitable[object]]
    _turns: Turns = field(default_factory=Turns)

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self.children[self.name].exited

    @property
    def pid(self) -> int:
        """The process's number. Raises PartError."""
        return running(self.children[self.name]).pid

    async def converse(self) -> Session:
        """Open a session: a node answers on it first, a worker's metrics are asked for once a connection."""
        node = self.name.startswith("node-")
        question = (
            f"GET /{'health/live' if node else 'metrics'} HTTP/1.1\r\nHost: {self.name}\r\n\r\n".encode()
        )
        greeting = question if node else b""
        return await on_the_wire(
            self.name, LOOPBACK, self.port, question=question, greeting=greeting, read=http_answer
        )

    async def kill(self) -> str:
        """Kill -9, and say how it ended once it was reaped. Raises PartError."""

        async def kill() -> str:
            return ended(await running(self.children[self.name]).kill())

        return await self._turns.take(self.name, kill)

    async def terminate(self) -> str:
        """Ask it to end, and say how it did; kills it where it does not. Raises PartError."""

        async def terminate() -> str:
            return await asked_to_end(running(self.children[self.name]))

        return await self._turns.take(self.name, terminate)

    async def start(self) -> None:
        """Start it again, if it has ended, as it was but for crash points, and wait until it answers. Raises PartError."""

        async def start() -> None:
            if self.children[self.name].exited:
                before = self.children[self.name]
                again = replace(before.start, argv=without_crash_points(before.start.argv))
                child = self.children[self.name] = await before.supervision.spawn(again)
                await self.ready(child)

        await self._turns.take(self.name, start)

    async def wall_clock_lead_seconds(self) -> float:
        """Compare the instant in the last line of its log with when that line reached the file. Raises PartError."""
        log = self.children[self.name].log
        for line in reversed(tail(log).splitlines()):
            try:
                told = datetime.fromisoformat(json.loads(line)["at"])
            except (ValueError, KeyError, TypeError):
                continue
            return told.timestamp() - log.stat().st_mtime
        raise PartError(f"{self.name} has told no time in its log")
