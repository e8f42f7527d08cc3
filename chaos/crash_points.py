"""Crash points: the process kills itself at a named function of the service, whose own code carries no hook."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

_SPELLING = re.compile(
    r"(?P<module>[\w.]+):(?P<function>[\w.]+)(:(?P<side>before|after))?(:(?P<call>[1-9]\d*))?"
)


class CrashPointError(ValueError):
    """A crash point that cannot be read or planted; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashPoint:
    """Before the `call`-th call of a function begins, or after it has returned, in this process (counted from 1)."""

    module: str
    function: str
    side: Literal["before", "after"] = "before"
    call: int = 1

    def __str__(self) -> str:
        """Spell it as `read` takes it."""
        return f"{self.module}:{self.function}:{self.side}:{self.call}"


def read(spelled: str) -> CrashPoint:
    """Read MODULE:FUNCTION[:before|after][:N], where FUNCTION may be Class.method. Raises CrashPointError."""
    match = _SPELLING.fullmatch(spelled)
    if match is None:
        raise CrashPointError(f"{spelled!r} is not of the form MODULE:FUNCTION[:before|after][:N]")
    return CrashPoint(
        module=match["module"],
        function=match["function"],
        side="after" if match["side"] == "after" else "before",
        call=int(match["call"] or 1),
    )


def plant(point: CrashPoint) -> None:
    """Wrap the function where it is found by its callers: in its module or class. Raises CrashPointError."""
    try:
        owner: Any = importlib.import_module(point.module)
        *path, name = point.function.split(".")
        for step in path:
            owner = getattr(owner, step)
        function = getattr(owner, name)
    except (ImportError, AttributeError) as error:
        raise CrashPointError(f"there is no {point.module}:{point.function} to crash at: {error}") from error
    if not inspect.isroutine(function):
        raise CrashPointError(f"{point.module}:{point.function} is no function")
    if isinstance(inspect.getattr_static(owner, name), classmethod | staticmethod):
        raise CrashPointError(f"{point.module}:{point.function} is a method of no instance")
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise CrashPointError(
            f"{point.module}:{point.function} is a generator, which returns before it begins"
        )
    setattr(owner, name, _wrapped(function, point))


def _wrapped(function: Callable[..., Any], point: CrashPoint) -> Callable[..., Any]:
    calls = 0

    def due() -> bool:
        nonlocal calls
        calls += 1
        return calls == point.call

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*given: Any, **named: Any) -> Any:
            now = due()
            if now and point.side == "before":
                _die()
            result = await function(*given, **named)
            if now:
                _die()
            return result

        return awaited

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        now = due()
        if now and point.side == "before":
            _die()
        result = function(*given, **named)
        if now:
            _die()
        return result

    return called


def _die() -> None:
    """End as a machine that loses its power: nothing is flushed, closed or told."""
    os.kill(os.getpid(), signal.SIGKILL)
