"""The parts of a lab that faults may stop, kill and empty, as the lab hands them over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.providers.behaviour import Behaviour, Met


class PartError(Exception):
    """A part of the lab did not do what a fault needed of it; the text says which part, and what."""


class Conversation(Protocol):
    """An open session with a part, kept from before it is broken."""

    async def hear(self, within_seconds: float) -> str:
        """Ask, unless a question is still open, and say what came; empty when nothing did in that time."""

    async def close(self) -> None:
        """Drop it, answered or not."""


class Part(Protocol):
    """A process of the lab (PostgreSQL: a family of them), called by its role: node-a, worker-expiry-1, postgres, redis.

    What has begun is done to its end also when the caller is cancelled, and one thing at a time.
    """

    @property
    def name(self) -> str:
        """Its role in the lab."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""

    @property
    def pid(self) -> int:
        """The number of its first process. Raises PartError when it has ended."""

    async def converse(self) -> Conversation:
        """Open a session that was answered once, where the protocol allows. Raises Unwell."""

    async def kill(self) -> str:
        """Kill -9 all its processes, and say how it ended once it was reaped. Raises PartError, also when it has ended before."""

    async def terminate(self) -> str:
        """Ask it to end, and say how it did once it was reaped. Raises PartError; it has ended even then."""

    async def start(self) -> None:
        """Start it with the same arguments on the same port, and wait until it answers; nothing if it runs. Raises PartError."""

    async def wall_clock_lead_seconds(self) -> float:
        """Say how far its own wall clock is ahead of this machine's. Raises PartError when it has told no time."""


@runtime_checkable
class Store(Protocol):
    """What a part can do besides when it keeps its content in memory, as Redis does. All of it raises PartError."""

    async def write_mark(self, text: str) -> None:
        """Put a mark of the bench among the content."""

    async def read_mark(self) -> str:
        """Read the mark again; empty when it is gone."""

    async def flush(self) -> None:
        """Drop all content."""

    async def save(self) -> Path:
        """Write a snapshot of the content."""

    async def roll_back(self, snapshot: Path) -> None:
        """Kill it, and start it again with the content of a snapshot."""


class Provider(Protocol):
    """A provider simulator of the lab, as its control channel shows it."""

    @property
    def name(self) -> str:
        """What it provides: notification, payment."""

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, past any proxy."""

    async def behave(self, behaviour: Behaviour) -> Met:
        """Tell it how to treat what comes from now on; returns what met its former behaviour. Raises PartError."""

    async def met(self) -> Met:
        """Ask how many requests have met the present behaviour. Raises PartError."""


@dataclass(slots=True)
class Grip:
    """What a fault in place has hold of, so that it heals those that it broke: the leader may be another by then."""

    parts: tuple[Part, ...] = ()
    sessions: dict[str, Conversation] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
