"""A fault of a provider: how the party outside the service treats what reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, get_args

from chaos import values
from chaos.fault import NotSeen, Unwell
from chaos.parts import Grip
from chaos.probes import Question, Sight, ask_at
from chaos.providers.behaviour import Behaviour, Does
from chaos.providers.simulator import PROBE
from chaos.values import value, word
from chaos.waiting import together

if TYPE_CHECKING:
    from chaos.fault import Place, Reach, Span
    from chaos.parts import Provider

ANSWER_SECONDS = 5.0
CLOCK_SECONDS = 0.001  # timers may fire this early
_QUESTION = Question(
    request=f"POST /{PROBE}/ HTTP/1.1\r\nHost: {PROBE}\r\nIdempotency-Key: {PROBE}\r\nContent-Length: 0\r\n\r\n".encode(),
    enough_bytes=None,
)
_DOES = tuple(each for each in get_args(Does) if each != "accept")
# What a probe meets: how the connection ends, and whether it brought an answer.
_REFUSED, _UNANSWERED, _ANSWERED = "refused", "closed without an answer", "answered"
_SEEN_BY_CALLERS = {"retry", "decline", "refuse", "kill_caller"}
_LANDED = {"down": _REFUSED, "drop_reply": _UNANSWERED}


@dataclass(frozen=True, slots=True)
class ProviderFault:
    """What the provider does to requests: retry, decline, refuse, late, drop_reply, kill_caller or down."""

    kind: ClassVar[str] = "provider"
    acts_on: ClassVar[Place] = "provider"
    span: ClassVar[Span] = "interval"
    seconds_least: ClassVar[float] = 0.0
    where: str
    does: Does = word(*_DOES)  # noqa: RUF009 - a field of the dataclass
    by_ms: int = value("ms", 0)
    times: int = value("", 0)
    only: str = word(default="")
    path: str = word(default="")

    def __post_init__(self) -> None:
        """Refuse values that mean nothing."""
        values.check(self)
        if (self.does == "late") != bool(self.by_ms):
            raise ValueError(f"{self.kind}:{self.where}=late needs by=…ms, and nothing else takes it")

    @property
    def awaits_victim(self) -> bool:
        """Whether only a request can show it: a probe is nobody who could be killed, or be one of a few."""
        return self.does in _SEEN_BY_CALLERS or bool(self.times or self.only or self.path)

    def __str__(self) -> str:
        """Spell it as `chaos.faults.parse` reads it."""
        return f"{self.kind}:{self.where}{values.spelled(self)}"

    def alone_with(self, reach: Reach) -> frozenset[str]:  # noqa: ARG002 - a name is enough
        """Share a provider with nobody: it behaves in one way at a time."""
        return frozenset({f"provider {self.where}"})

    def unavailable(self, reach: Reach) -> str:
        """Say that the lab has no such provider."""
        there = ", ".join(reach.providers) or "none"
        return (
            ""
            if self.where in reach.providers
            else f"{self} needs a provider {self.where!r}; there are: {there}"
        )

    async def check(self, reach: Reach) -> float:
        """Have it answer a probe."""
        provider = reach.providers[self.where]
        sight = await _ask(provider, ANSWER_SECONDS)
        if _ending(sight) != _ANSWERED:
            raise Unwell(f"provider {provider.name} was {sight}")
        return sight.seconds

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - a provider behaves in one way
        """Tell it how to behave."""
        told = Behaviour(does=self.does, by_ms=self.by_ms, times=self.times, only=self.only, path=self.path)
        await reach.providers[self.where].behave(told)

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """See a probe treated so; where only a request can show it, see that one was."""
        provider = reach.providers[self.where]
        if self.awaits_victim:
            met = await provider.met()
            if not (met.killed if self.does == "kill_caller" else met.requests):
                raise NotSeen(f"no request has met {self}")
            if alive := [each for each in met.killed if "not killed" in each]:
                raise NotSeen("; ".join(alive))
            return "; ".join(met.killed) or f"requests that met it: {met.requests}"
        if usual_seconds >= self.by_ms / 1_000 and self.does == "late":
            raise NotSeen(f"{self} cannot be told from a usual answer after {usual_seconds * 1000:.1f} ms")
        sight = await _ask(provider, self.by_ms / 1_000 + ANSWER_SECONDS)
        if _ending(sight) != _LANDED.get(self.does, _ANSWERED):
            raise NotSeen(f"the probe was {sight}")
        if sight.seconds < self.by_ms / 1_000 - CLOCK_SECONDS:
            raise NotSeen(f"the probe was {sight}, too early")
        return f"a probe was {_ending(sight)} after {sight.seconds * 1000:.1f} ms"

    async def victims(self, reach: Reach) -> str:
        """Count the requests that met it, unless its proof has done so."""
        if self.awaits_victim:
            return ""
        met = await reach.providers[self.where].met()
        return f"requests that met it: {met.requests}"

    async def heal(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - as above
        """Have it accept again, and start those whom it had killed."""
        held = reach.held.setdefault(self, Grip())
        met = await reach.providers[self.where].behave(Behaviour())
        held.parts += tuple(reach.parts[name] for name in met.callers if name in reach.parts)
        await together(*(part.start() for part in held.parts))
        del reach.held[self]


async def _ask(provider: Provider, within_seconds: float) -> Sight:
    return await ask_at(*provider.address, _QUESTION, within_seconds=within_seconds)


def _ending(sight: Sight) -> str:
    if sight.ending == "ended":
        return _ANSWERED if sight.received_bytes else _UNANSWERED
    return sight.ending
