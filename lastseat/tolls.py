"""What a proxied link costs: how soon the server behind it answers a new connection, through the link and straight."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from chaos.probes import ask, ask_at, speech_behind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaos.network import Link

TRIES = 7
ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Toll:
    """The medians of a few answers each, in seconds; None where one of them did not come."""

    through_seconds: float | None
    straight_seconds: float | None

    def __str__(self) -> str:
        """Say it for the report."""
        if self.through_seconds is None or self.straight_seconds is None:
            return "what it costs could not be measured"
        return (
            f"a new connection is answered after {self.through_seconds * 1_000:.2f} ms through it, "
            f"after {self.straight_seconds * 1_000:.2f} ms straight (medians of {TRIES})"
        )


async def tolls(links: Mapping[str, Link]) -> dict[str, Toll]:
    """Measure each link in turn, before anything is broken: both ways by turns, so that what else runs meets both."""
    return {name: await _toll(link) for name, link in links.items()}


async def _toll(link: Link) -> Toll:
    question = speech_behind(link.name).short
    host, _, port = link.upstream.rpartition(":")
    through, straight = [], []
    for _ in range(TRIES):
        through.append(await ask(link, question, within_seconds=ANSWER_SECONDS))
        straight.append(await ask_at(host, int(port), question, within_seconds=ANSWER_SECONDS))
    if any(sight.ending != "answered" for sight in (*through, *straight)):
        return Toll(through_seconds=None, straight_seconds=None)
    return Toll(
        through_seconds=median(sight.seconds for sight in through),
        straight_seconds=median(sight.seconds for sight in straight),
    )
