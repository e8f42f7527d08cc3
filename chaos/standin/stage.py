"""One toxic at work on one direction of one connection: chunks come in, are held, and go on."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.standin.toxics import Toxic


_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes and when they arrived at the proxy, in seconds of the loop's clock; no bytes mean the end."""

    data: bytes
    arrived: float

    @property
    def end(self) -> bool:
        """Whether the stream ends here."""
        return not self.data


class Stage:
    """A toxic between an inbox and an outbox, which can be interrupted without losing the chunk in its hand.

    Boxes are unbounded, so that a stage never blocks on its output; the link bounds what is under way in all.
    """

    def __init__(self, toxic: Toxic, outbox: asyncio.Queue[Chunk], release: Callable[[int], None]) -> None:
        self.toxic = toxic
        self.inbox: asyncio.Queue[Chunk] = asyncio.Queue()
        self.outbox = outbox
        self.release = release
        self.held: Chunk | None = None
        self.passed_bytes = 0
        self.closed = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Draw the toxicity and set to work."""
        if not self.closed:
            toxic_here = random.random() < self.toxic.toxicity  # noqa: S311 - chaos, no secret
            self._task = asyncio.create_task(self._run(toxic_here=toxic_here))

    async def take(self) -> Chunk:
        """Take the next chunk in hand."""
        self.held = await self.inbox.get()
        return self.held

    def pass_on(self, data: bytes, rest: bytes = b"") -> None:
        """Hand on part of the chunk in hand and keep the rest."""
        chunk = self.held
        if chunk is None:
            raise AssertionError("a stage passed on a chunk that it does not hold")
        self.passed_bytes += len(data)
        self.held = Chunk(rest, chunk.arrived) if rest else None
        self.outbox.put_nowait(Chunk(data, chunk.arrived))

    def drop(self) -> None:
        """Let go of the chunk in hand; nobody will see it."""
        if self.held is not None:
            self.release(len(self.held.data))
            self.held = None

    def close(self) -> None:
        """End the stream behind this stage; whatever still comes in stays here."""
        if not self.closed:
            self.closed = True
            self.drop()
            self.outbox.put_nowait(Chunk(b"", 0.0))

    async def interrupt(self) -> None:
        """Stop working and pass on what is in hand, undelayed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_END_SECONDS)
            self._task = None
        if self.held is not None:
            self.outbox.put_nowait(self.held)
            self.held = None

    def empty_into_outbox(self) -> None:
        """Pass on everything that waits in the inbox, in order."""
        while not self.inbox.empty():
            self.outbox.put_nowait(self.inbox.get_nowait())

    async def _run(self, *, toxic_here: bool) -> None:
        if toxic_here:
            await self.toxic.attributes.work(self)
        else:
            while not (await self.take()).end:
                self.pass_on(self.held.data if self.held else b"")
        self.close()
