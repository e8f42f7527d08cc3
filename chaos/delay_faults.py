"""Faults of a link that make things late: each shows by how long something takes at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.fault import NotSeen
from chaos.link_faults import ANSWER_SECONDS, CLOCK_SECONDS, LOOKS, LinkFault, wanted
from chaos.network import Toxic
from chaos.probes import LEAVING, Sight, ask, speech_behind
from chaos.values import value

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from chaos.fault import Reach
    from chaos.network import Link, Stream
    from chaos.probes import Question

# On a busy machine something takes now and then as long as a short delay makes it take each time; as long as a longer one,
# hardly ever: one look will do.
_LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Delay(LinkFault):
    """What makes something take `least_seconds` or longer, and shows by that alone."""

    @property
    def least_seconds(self) -> float:
        """How long it takes at least; 0 where that is no delay that anybody could see."""
        raise NotImplementedError

    @property
    def seconds_least(self) -> float:  # type: ignore[override]  # others have a constant
        """How long its looks take."""
        return looks(self.least_seconds) * self.least_seconds

    async def check(self, reach: Reach) -> float:
        """Look more than once for a usual round trip that it can be told from."""
        return await shorter(lambda: LinkFault.check(self, reach), self.least_seconds)


@dataclass(frozen=True, slots=True)
class Latency(Delay):
    """Every chunk comes `ms` ± `jitter_ms` late."""

    kind = "latency"
    ms: int = value("ms", least=1)
    jitter_ms: int = value("ms", 0)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic."""
        attributes = {"latency": self.ms, "jitter": self.jitter_ms}
        return Toxic(name=name, type="latency", stream=stream, attributes=attributes)

    @property
    def least_seconds(self) -> float:
        """The round trip that it leaves at least."""
        return max(0, self.ms - self.jitter_ms) / 1000 * len(list(self.streams()))

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """See only round trips of at least the latency, which without it would be shorter."""
        question = speech_behind(link.name).short
        return await delayed(self, link, question, usual_seconds, "answered")


@dataclass(frozen=True, slots=True)
class SlowClose(Delay):
    """When one side closes, the other learns it `ms` late: the client downstream, the server upstream."""

    kind = "slow_close"
    ms: int = value("ms", least=1)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic."""
        return Toxic(name=name, type="slow_close", stream=stream, attributes={"delay": self.ms})

    @property
    def least_seconds(self) -> float:
        """How late an end is at least."""
        return self.ms / 1000 * len(list(self.streams()))

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """See the end of a connection no earlier than that: the server was asked to close it, or the client left.

        Upstream, the proxy ends the client's side once it has ended the server's, and so shows a delay that only the
        server feels.
        """
        question = speech_behind(link.name).parting if self.stream == "downstream" else LEAVING
        return await delayed(self, link, question, usual_seconds, "ended", "reset")


async def shorter(look: Callable[[], Awaitable[float]], than_seconds: float) -> float:
    """Look until something took a shorter time, a few times at most; return the last time."""
    for _ in range(LOOKS - 1):
        if (seconds := await look()) < than_seconds:
            return seconds
    return await look()


def looks(least_seconds: float) -> int:
    """Return how often something that takes so long at least is looked at."""
    return max(1, min(LOOKS, int(_LOOK_SECONDS / least_seconds))) if least_seconds else 1


async def delayed(fault: Delay, link: Link, question: Question, usual_seconds: float, *endings: str) -> Sight:
    """Return the last of a few sights, all of which took as long as the fault makes them at least. Raises NotSeen."""
    least_seconds = fault.least_seconds
    if usual_seconds >= least_seconds:
        raise NotSeen(f"{fault} cannot be told from a usual round trip of {usual_seconds * 1000:.1f} ms")
    for _ in range(looks(least_seconds)):
        sight = wanted(await ask(link, question, within_seconds=least_seconds * 3 + ANSWER_SECONDS), *endings)
        if sight.seconds < least_seconds - CLOCK_SECONDS:
            raise NotSeen(f"link {link.name} was {sight}")
    return sight
