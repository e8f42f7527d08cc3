"""The crowd and the nemesis are let loose together, and neither outlives the other."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from io import StringIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from rich.console import Console

from chaos.fault import Reach
from chaos.schedule import at
from lastseat import run
from lastseat.live import Plain, progress
from scenarios.control import Tally
from scenarios.load import LoadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.fault import Place, Span


@dataclass(frozen=True)
class Bell:
    """A fault that only counts how often it was rung."""

    rung: list[str] = field(default_factory=list, compare=False)
    acts_on: ClassVar[Place] = "link"
    span: ClassVar[Span] = "interval"
    awaits_victim = False
    seconds_least = 0.0
    kind = "bell"
    where = "tower"

    def __str__(self) -> str:
        return "bell:tower"

    def alone_with(self, _reach: Reach) -> frozenset[str]:
        return frozenset()

    def unavailable(self, _reach: Reach) -> str:
        return ""

    async def check(self, _reach: Reach) -> float:
        return 0.0

    async def inject(self, _reach: Reach, tag: str) -> None:
        self.rung.append(tag)

    async def prove(self, _reach: Reach, _usual_seconds: float) -> str:
        return "heard"

    async def victims(self, _reach: Reach) -> str:
        return ""

    async def heal(self, _reach: Reach, _tag: str) -> None:
        """Silence needs no undoing."""


class Fallen:
    """A load that falls over once t0 is known."""

    async def play(self, _plan: object, *, on_zero: Callable[[int], None], **_: object) -> None:
        on_zero(time.monotonic_ns())
        await asyncio.sleep(0)
        raise LoadError("load process 0 ended early")


class Going:
    """A load that tells how far it is until it is told to end, and one last time then."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def play(
        self,
        _plan: object,
        *,
        on_zero: Callable[[int], None],
        on_progress: Callable[[Tally], None],
        **_: object,
    ) -> None:
        on_zero(time.monotonic_ns())
        while not self.over.is_set():
            on_progress(Tally())
            await asyncio.sleep(0)


class Telling(Plain):
    """Keeps which faults were said to be in force, each time that changed, and ends the load after the first is over."""

    def __init__(self, load: Going) -> None:
        super().__init__(Console(file=StringIO()))
        self.told: list[tuple[str, ...]] = []
        self._load = load

    def faults(self, active: tuple[str, ...]) -> None:
        if self.told[-1:] != [active]:
            self.told.append(active)
        if len(self.told) > 2 and not active:
            self._load.over.set()


def nobody() -> Any:
    return SimpleNamespace(dsn="")


async def test_a_fault_is_told_from_when_it_breaks_something_until_it_is_healed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "reach_of", lambda *_: Reach())
    planned = at(seconds=0.01, inject=Bell(), heal_after=0.05)
    course: Any = SimpleNamespace(faults=(planned,), lab=None, scenario=SimpleNamespace(name="by_hand"))
    plan: Any = SimpleNamespace(arrivals=1, seconds=1.0)
    load: Any = Going()
    telling = Telling(load)
    async with asyncio.timeout(10):
        await run.storm(course, load, plan, nobody(), telling)
    assert telling.told == [(), (planned.name,), ()]


async def test_a_fault_that_was_still_to_come_does_not_come_after_a_load_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "reach_of", lambda *_: Reach())
    bell = Bell()
    planned = at(seconds=0.05, inject=bell, heal_after=1)
    course: Any = SimpleNamespace(faults=(planned,), lab=None, scenario=SimpleNamespace(name="by_hand"))
    plan: Any = SimpleNamespace(arrivals=1, seconds=1.0)
    fallen: Any = Fallen()
    with progress(Console(file=StringIO())) as telling, pytest.raises(LoadError):
        await run.storm(course, fallen, plan, nobody(), telling)
    await asyncio.sleep(0.1)  # past the instant at which it was planned
    assert bell.rung == []
