"""What a fault is, and what of a lab it may reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from chaos.network import Link, Network
    from chaos.parts import Grip, Part, Provider

Place = Literal["link", "part", "provider"]
Span = Literal["interval", "moment", "throughout"]
LEADER = "leader"


class NotSeen(Exception):  # noqa: N818 - no error, but an answer: the fault has not landed yet
    """A probe did not see the fault; the text says what it saw instead."""


class Unwell(Exception):  # noqa: N818 - as above: the part of the lab is not well
    """Something that a fault is to break, or has broken, does not answer; the text says what and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The part of a lab that faults may touch: proxied links, parts and providers by name.

    `leader` names the part that holds the lease now, or is empty. `conditions` are what a schedule may wait for. `held`
    is what faults in place have hold of, filled by them.
    """

    network: Network | None = None
    links: Mapping[str, Link] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    providers: Mapping[str, Provider] = field(default_factory=dict)
    leader: Callable[[], Awaitable[str]] | None = None
    conditions: Mapping[str, Callable[[], Awaitable[float]]] = field(default_factory=dict)
    held: dict[Fault, Grip] = field(default_factory=dict)

    def group(self, where: str) -> tuple[Link, ...]:
        """Find the links called `where`, or of that group: `pg` stands for pg-a, pg-b and pg-workers."""
        return tuple(link for name, link in self.links.items() if of_group(name, where))

    def parts_of(self, where: str) -> tuple[Part, ...]:
        """Find the parts called `where`, or of that group: `node` stands for node-a and node-b."""
        return tuple(part for name, part in self.parts.items() if of_group(name, where))


def of_group(name: str, where: str) -> bool:
    """Tell whether a name is meant by `where`: itself, or the group that it belongs to."""
    return name == where or name.startswith(f"{where}-")


class Fault(Protocol):
    """One thing to break, as frozen data that knows how to break it, to show that it broke, and to heal it.

    `span` says whether it lasts, is over at once, or can only hold for the whole load. One that `awaits_victim` is
    shown by what meets it and not by a probe, so that proof may come at any time before it is healed.
    """

    @property
    def acts_on(self) -> Place:
        """What kind of thing `where` names."""

    @property
    def span(self) -> Span:
        """How long it can hold."""

    @property
    def awaits_victim(self) -> bool:
        """Whether only what meets it can show it."""

    @property
    def seconds_least(self) -> float:
        """How long it must last at least to be told from nothing: silence from a slow answer, say."""

    @property
    def kind(self) -> str:
        """What is done, such as cut or latency."""

    @property
    def where(self) -> str:
        """The link, part or provider, or the group of them, that it is done to."""

    def __str__(self) -> str:
        """Spell the fault as the command line takes it."""

    def alone_with(self, reach: Reach) -> frozenset[str]:
        """Name what no other fault that names it too may break at the same time."""

    def unavailable(self, reach: Reach) -> str:
        """Say why it cannot be had in this lab; empty when it can."""

    async def check(self, reach: Reach) -> float:
        """Find what it touches well, and return the usual seconds of a probe. Raises Unwell."""

    async def inject(self, reach: Reach, tag: str) -> None:
        """Break it; what is put in place carries `tag`. Raises NetworkError, PartError."""

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """Look once whether it has landed, and say what was seen. Raises NotSeen."""

    async def victims(self, reach: Reach) -> str:
        """Say, before it is healed, what has met it so far; empty where that is not counted here."""

    async def heal(self, reach: Reach, tag: str) -> None:
        """Undo whatever of it is in place; may be called twice. Raises NetworkError, PartError."""
