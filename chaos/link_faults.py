"""Faults of the network: what happens to a link or to a group of links."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from chaos import values
from chaos.fault import NotSeen, Unwell
from chaos.network import Toxic
from chaos.probes import Sight, ask, ask_at, speech_behind
from chaos.waiting import together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.fault import Place, Reach, Span
    from chaos.network import Link, Stream
    from chaos.probes import Question

Way = Literal["upstream", "downstream", "both"]

ANSWER_SECONDS = 5.0  # a healthy server answers a probe long before
SILENCE_SECONDS = 0.25  # no byte for so long, and for many usual round trips, is silence
_SILENT_ROUND_TRIPS = 5
CLOCK_SECONDS = 0.001  # timers may fire this early
LOOKS = 3  # on a busy machine something is now and then as slow by itself


@dataclass(frozen=True, slots=True)
class LinkFault:
    """A fault that toxics make; `stream` is the direction seen from the client: replies come downstream."""

    kind: ClassVar[str]
    acts_on: ClassVar[Place] = "link"
    span: ClassVar[Span] = "interval"
    awaits_victim: ClassVar[bool] = False
    seconds_least: ClassVar[float] = 0.0
    ways: ClassVar[tuple[Way, ...]] = ("downstream", "upstream", "both")
    otherwise: ClassVar[str] = ""  # why there is no other way
    where: str
    stream: Way = field(default="downstream", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        values.check(self)
        if self.stream not in self.ways:
            why = f": {self.otherwise}" if self.otherwise and self.stream in get_args(Way) else ""
            raise ValueError(f"stream of {self.kind}:{self.where} must be {' or '.join(self.ways)}{why}")

    def __str__(self) -> str:
        """Spell it as `chaos.faults.parse` reads it."""
        usual = next(each.default for each in fields(self) if each.name == "stream")
        way = "" if self.stream == usual else f"/{self.stream}"
        return f"{self.kind}:{self.where}{way}{values.spelled(self)}"

    def alone_with(self, reach: Reach) -> frozenset[str]:  # noqa: ARG002 - there is nothing to find
        """Toxics bear one another; a cut overrides."""
        return frozenset()

    def unavailable(self, reach: Reach) -> str:
        """Say that no such link is proxied."""
        if reach.network is None:
            return f"{self} needs a proxied network, and this lab has none"
        if not reach.group(self.where):
            return (
                f"{self} needs a proxied link {self.where!r}; there are: {', '.join(reach.links) or 'none'}"
            )
        return ""

    async def check(self, reach: Reach) -> float:
        """Have every link answer a probe, the second time with open doors; return the longest round trip."""
        sights: list[Sight] = []
        for link in reach.group(self.where):
            for _ in range(2):
                sight = await ask(link, speech_behind(link.name).short, within_seconds=ANSWER_SECONDS)
                if sight.ending != "answered":
                    raise Unwell(f"link {link.name} on {link.address} to {link.upstream} was {sight}")
            sights.append(sight)
        return max(sight.seconds for sight in sights)

    async def inject(self, reach: Reach, tag: str) -> None:
        """Put the toxics on every link."""
        network = _network(reach)
        await together(
            *(
                network.add(link.name, self.toxic(f"{tag}-{stream}", stream))
                for link in reach.group(self.where)
                for stream in self.streams()
            )
        )

    async def heal(self, reach: Reach, tag: str) -> None:
        """Take off what carries the tag."""
        network = _network(reach)
        await together(*(network.clear(link.name, tag) for link in reach.group(self.where)))

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """Probe every link; all must show the fault."""
        seen = await together(*(self.seen(link, usual_seconds) for link in reach.group(self.where)))
        return "; ".join(
            f"{link.name}: {sight}" for link, sight in zip(reach.group(self.where), seen, strict=True)
        )

    async def victims(self, reach: Reach) -> str:  # noqa: ARG002 - there is nothing to find
        """Leave them to the history: what passes a link leaves no count there."""
        return ""

    def streams(self) -> Iterator[Stream]:
        """Go through the directions that are poisoned."""
        if self.stream != "downstream":
            yield "upstream"
        if self.stream != "upstream":
            yield "downstream"

    def passed_bytes(self, question: Question, sight: Sight) -> int:
        """Count the bytes of a conversation that went in a poisoned direction."""
        return sight.received_bytes if self.stream == "downstream" else len(question.request)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic of one direction."""
        raise NotImplementedError

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """Look through one link once. Raises NotSeen."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Cut(LinkFault):
    """The link is down: open connections end, new ones are refused."""

    kind = "cut"
    ways = ("both",)
    otherwise = "it ends whole connections"
    stream: Way = field(default="both", kw_only=True)

    def alone_with(self, reach: Reach) -> frozenset[str]:
        """Share no link with another cut: healing one would heal the other."""
        return frozenset(link.name for link in reach.group(self.where))

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - a cut carries no tag
        """Close every link."""
        await together(*(_network(reach).cut(link.name) for link in reach.group(self.where)))

    async def heal(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - as above
        """Open every link."""
        await together(*(_network(reach).restore(link.name) for link in reach.group(self.where)))

    async def seen(self, link: Link, usual_seconds: float) -> Sight:  # noqa: ARG002 - no matter of time
        """See ECONNREFUSED."""
        return wanted(await ask(link, speech_behind(link.name).short, within_seconds=1.0), "refused")


@dataclass(frozen=True, slots=True)
class Blackhole(LinkFault):
    """Bytes vanish, connections stay open: a partition. Healing it closes the connections that it touched."""

    kind = "blackhole"
    seconds_least = 2 * SILENCE_SECONDS
    stream: Way = field(default="both", kw_only=True)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make a timeout that never fires."""
        return Toxic(name=name, type="timeout", stream=stream, attributes={"timeout": 0})

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """See no byte by the deadline, or until a server closes that does so after its answer."""
        sight = await listen(link, usual_seconds)
        vanished = sight.ending == "ended" and not sight.received_bytes
        if vanished and self.stream == "downstream" and speech_behind(link.name).closes:
            return await server_answers(link, sight)
        return wanted(sight, "silent")


def wanted(sight: Sight, *endings: str) -> Sight:
    """Return a sight that ended as wanted. Raises NotSeen."""
    if sight.ending not in endings:
        raise NotSeen(f"the probe was {sight}, not {' or '.join(endings)}")
    return sight


async def server_answers(link: Link, sight: Sight) -> Sight:
    """Return a sight of an end once the server itself answers, past the proxy: the end of a dead one shows no fault. Raises NotSeen."""
    host, _, port = link.upstream.rpartition(":")
    direct = await ask_at(
        host.strip("[]"), int(port), speech_behind(link.name).short, within_seconds=ANSWER_SECONDS
    )
    if direct.ending != "answered":
        raise NotSeen(f"link {link.name} was {sight}, but so was what is behind it: {direct}")
    return sight


async def listen(link: Link, usual_seconds: float) -> Sight:
    """Probe for as long as silence takes to be told from slowness."""
    patience_seconds = max(SILENCE_SECONDS, usual_seconds * _SILENT_ROUND_TRIPS)
    return await ask(link, speech_behind(link.name).short, within_seconds=patience_seconds)


def _network(reach: Reach) -> Any:
    if reach.network is None:
        raise AssertionError("a link fault was played in a lab without a network")
    return reach.network
