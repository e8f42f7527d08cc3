"""Faults of a link's stream of bytes: how fast it flows, where it is cut apart, how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.fault import NotSeen
from chaos.link_faults import (
    ANSWER_SECONDS,
    CLOCK_SECONDS,
    LOOKS,
    SILENCE_SECONDS,
    LinkFault,
    listen,
    server_answers,
    wanted,
)
from chaos.network import Toxic
from chaos.probes import Sight, ask, speech_behind
from chaos.values import value

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.fault import Reach
    from chaos.network import Link, Stream
    from chaos.probes import Question

_THROTTLED_SECONDS = 0.1  # a bandwidth shows by a transfer that takes about so long
_PAUSED_SECONDS = 0.02  # slices show by pauses that add up to so much
_SLICED_BYTES_MAX = 32_768
_SHORT_OF = 0.9  # the last chunk of a throttled transfer may leave a little early


@dataclass(frozen=True, slots=True)
class Bandwidth(LinkFault):
    """At most so many KB/s on each connection; 0 stalls all data without closing."""

    kind = "bandwidth"
    kilobytes_per_second: int = value("KB/s")

    @property
    def seconds_least(self) -> float:  # type: ignore[override]  # others have a constant
        """How long its looks take."""
        return LOOKS * _THROTTLED_SECONDS if self.kilobytes_per_second else 2 * SILENCE_SECONDS

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic."""
        return Toxic(
            name=name, type="bandwidth", stream=stream, attributes={"rate": self.kilobytes_per_second}
        )

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """See a transfer that takes as long as its bytes need at that rate; silence at 0."""
        if self.kilobytes_per_second == 0:
            return wanted(await listen(link, usual_seconds), "silent")
        size_bytes = int(self.kilobytes_per_second * 1000 * (_THROTTLED_SECONDS + usual_seconds))
        question = speech_behind(link.name).bulk(size_bytes, next(self.streams()))

        def least(sight: Sight) -> float:
            return self.passed_bytes(question, sight) / (self.kilobytes_per_second * 1000) * _SHORT_OF

        return await _slow(link, question, usual_seconds, least, f"{self.kilobytes_per_second} KB/s")


@dataclass(frozen=True, slots=True)
class Reset(LinkFault):
    """The first data resets the connection `after_ms` later: RST where it was opened since, the end where before."""

    kind = "reset"
    ways = ("downstream", "upstream")
    otherwise = "upstream resets the connection before any reply"
    after_ms: int = value("ms", 0)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make what Toxiproxy calls reset_peer."""
        return Toxic(name=name, type="reset_peer", stream=stream, attributes={"timeout": self.after_ms})

    async def seen(self, link: Link, usual_seconds: float) -> Sight:  # noqa: ARG002 - no matter of time
        """See ECONNRESET instead of an answer, no earlier than that, on a connection opened since."""
        question = speech_behind(link.name).short
        sight = wanted(
            await ask(link, question, within_seconds=self.after_ms / 1000 + ANSWER_SECONDS), "reset"
        )
        if sight.received_bytes or sight.seconds < self.after_ms / 1000 - CLOCK_SECONDS:
            raise NotSeen(f"link {link.name} was {sight}")
        return await server_answers(link, sight)


@dataclass(frozen=True, slots=True)
class Slicer(LinkFault):
    """Chunks are cut to `size_bytes` ± `vary_bytes`, `pause_us` apart: readers see half messages."""

    kind = "slicer"
    ways = ("downstream", "upstream")
    otherwise = "pauses in one direction would pass for those in the other; plan one for each"
    size_bytes: int = value("B", least=1)
    vary_bytes: int = value("B", 0)
    pause_us: int = value("us", 1_000, least=1)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic."""
        attributes = {
            "average_size": self.size_bytes,
            "size_variation": self.vary_bytes,
            "delay": self.pause_us,
        }
        return Toxic(name=name, type="slicer", stream=stream, attributes=attributes)

    async def seen(self, link: Link, usual_seconds: float) -> Sight:
        """See a transfer that takes as long as the pauses between its slices."""
        shown_seconds = max(_PAUSED_SECONDS, usual_seconds * 4)
        size_bytes = int(shown_seconds * 1_000_000 / self.pause_us + 2) * (self.size_bytes + self.vary_bytes)
        question = speech_behind(link.name).bulk(min(size_bytes, _SLICED_BYTES_MAX), next(self.streams()))

        def least(sight: Sight) -> float:
            slices = self.passed_bytes(question, sight) // (self.size_bytes + self.vary_bytes)
            return (slices - 1) * self.pause_us / 1_000_000

        return await _slow(link, question, usual_seconds, least, f"slices of {self.size_bytes} bytes")


@dataclass(frozen=True, slots=True)
class LimitData(LinkFault):
    """Each connection ends after `limit_bytes` of replies, or upstream of requests; 0 ends it on the first data."""

    kind = "limit_data"
    ways = ("downstream", "upstream")
    otherwise = "what ends first hides the other"
    limit_bytes: int = value("B", 0)

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make the toxic."""
        return Toxic(name=name, type="limit_data", stream=stream, attributes={"bytes": self.limit_bytes})

    def unavailable(self, reach: Reach) -> str:
        """Say also that no probe can pass the limit, so that nothing could show it."""
        if missing := super(LimitData, self).unavailable(reach):
            return missing
        (stream,) = self.streams()
        most_bytes = min(speech_behind(link.name).most_bytes(stream) for link in reach.group(self.where))
        if self.limit_bytes < most_bytes:
            return ""
        return f"{self} could not be shown: a probe there has at most {most_bytes} bytes pass {stream}"

    async def seen(self, link: Link, usual_seconds: float) -> Sight:  # noqa: ARG002 - no matter of time
        """See the end after just so many bytes of an answer that is longer, or of no answer to a request that is longer."""
        (stream,) = self.streams()
        question = speech_behind(link.name).bulk(self.limit_bytes + 1, stream)
        sight = wanted(await ask(link, question, within_seconds=ANSWER_SECONDS), "ended", "reset")
        due_bytes = self.limit_bytes if stream == "downstream" else 0
        if sight.received_bytes != due_bytes:
            raise NotSeen(f"link {link.name} was {sight}, not with {due_bytes}")
        return await server_answers(link, sight)


@dataclass(frozen=True, slots=True)
class LostReply(LinkFault):
    """The request arrives and the server does the work, but the reply never comes: the connection ends instead.

    It hits every reply on that link at that time, bystanders' too.
    """

    kind = "lost_reply"
    ways = ("downstream",)
    otherwise = "a reply comes downstream"

    def toxic(self, name: str, stream: Stream) -> Toxic:
        """Make a limit of no data."""
        return Toxic(name=name, type="limit_data", stream=stream, attributes={"bytes": 0})

    async def seen(self, link: Link, usual_seconds: float) -> Sight:  # noqa: ARG002 - no matter of time
        """See the end where an answer was due."""
        sight = wanted(
            await ask(link, speech_behind(link.name).short, within_seconds=ANSWER_SECONDS), "ended", "reset"
        )
        if sight.received_bytes:
            raise NotSeen(f"link {link.name} was {sight}: the reply came")
        return await server_answers(link, sight)


async def _slow(
    link: Link, question: Question, usual_seconds: float, least: Callable[[Sight], float], shown: str
) -> Sight:
    """Return the last of a few transfers, each of which took at least as long as it must have. Raises NotSeen."""
    for _ in range(LOOKS):
        sight = wanted(await ask(link, question, within_seconds=ANSWER_SECONDS), "answered", "ended")
        least_seconds = least(sight)
        if sight.seconds < least_seconds or least_seconds <= usual_seconds:
            raise NotSeen(f"link {link.name} was {sight}, which does not show {shown}")
    return sight
