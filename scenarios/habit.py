"""What a buyer does after arriving; a file in `scenarios/buyers/` that names a HABIT *is* a habit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import scenarios.buyers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scenarios.journal import Failure, Outcome
    from scenarios.targets.target import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: the outcome by the target's rules, and the answer's JSON object (empty where there was none)."""

    outcome: Outcome
    failure: Failure
    status: int
    code: str | None
    created: str | None
    replayed: bool | None
    document: Mapping[str, object]


class Buyer(Protocol):
    """One customer as a habit sees it; every call is one operation of the history."""

    @property
    def name(self) -> str:
        """Whose token this buyer sends."""

    def act(self, action: str, **values: Value) -> Answer:
        """Send the action under a key of its own and wait for its answer."""

    def repeat(self, *, elsewhere: bool = False) -> Answer:
        """Send the last request again, byte for byte, under the same key; to another node if `elsewhere`."""

    def reuse(self, action: str, **values: Value) -> Answer:
        """Send another action under the key of the last."""

    def at_once(
        self, action: str, times: int, *, one_key: bool = False, **values: Value
    ) -> tuple[Answer, ...]:
        """Send the action so many times at once, in turn to all nodes, each under a key of its own or all under one."""

    def stranger(self, *, knows_key: bool = False) -> Buyer:
        """Return somebody else who is after the same thing; who may reuse the last key if `knows_key`."""

    def pause(self, seconds: float) -> None:
        """Let time pass, as a person reading a page does."""

    def chance(self, purpose: str) -> float:
        """Return a number in [0, 1) that this buyer always draws for this purpose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """One way to behave: the action a buyer arrives for, and what follows once it is answered.

    `operations_max` bounds the operations of one buyer, the first included: the journal is sized by it.
    """

    name: str
    sentence: str
    opening: str
    then: Callable[[Buyer, Answer], None] | None = None
    operations_max: int = 1


@cache
def habits() -> Mapping[str, Habit]:
    """Return every habit by name, as found in `scenarios/buyers/`."""
    found = {}
    for module in iter_modules(scenarios.buyers.__path__):
        habit: Habit = import_module(f"scenarios.buyers.{module.name}").HABIT
        if habit.name != module.name:
            raise ValueError(
                f"scenarios/buyers/{module.name}.py calls its habit {habit.name}: file and habit share a name"
            )
        found[habit.name] = habit
    return MappingProxyType(found)
