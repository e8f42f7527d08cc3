"""Which parameters an assumption takes: told before a run, by how its constructor is declared.

What a limit is called says what it may be: a share lies from 0 to 1, `at_least` is a count from 1 on, a maximum is not
negative. Assumptions of several events or states have those for parameters, each with how often it must be met.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import constructor
from checker.canonical import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.brief import Assumption

_EVENT: Final = re.compile(r"[a-z_]+:(ok|fail|info)(:\w+)?")
_STATE: Final = re.compile(r"(?P<table>[a-z_]+):(?P<state>\w+)")


def refusals(assumption: Assumption) -> Iterator[str]:
    """Yield a sentence for each parameter that an assumption lacks, does not know, or cannot mean."""
    made_by = constructor(assumption.name)
    if made_by is None:
        return
    declared = inspect.signature(made_by).parameters.values()
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in declared):
        yield from _of_the_met(assumption)
        return
    known = {each.name: each.default is inspect.Parameter.empty for each in declared}
    for name, needed in known.items():
        if needed and name not in assumption.parameters:
            yield f"assumption {assumption.name!r} lacks {name}"
    for name, value in assumption.parameters.items():
        if name not in known:
            takes = ", ".join(known) or "none"
            yield f"assumption {assumption.name!r} has no parameter {name!r}; it takes {takes}"
        elif said := _of_the_limit(name, value):
            yield f"assumption {assumption.name!r} needs {said}, not {value!r}"


def _of_the_limit(name: str, value: float | str) -> str:
    """Say what a limit of this name may be, where this one is not; empty where it is."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return f"a number for {name}"
    if "share" in name:
        return "" if 0 <= value <= 1 else f"{name} from 0 to 1"
    if name.startswith("at_least"):
        return "" if value >= 1 and value == int(value) else f"{name} of 1 or more, a whole number"
    return "" if value >= 0 else f"{name} of 0 or more"


def _of_the_met(assumption: Assumption) -> Iterator[str]:
    """Yield what is wrong with events, faults or states, and with how often each must be met."""
    if not assumption.parameters:
        yield f"assumption {assumption.name!r} names nothing that it asks for"
    for named, least in assumption.parameters.items():
        if _of_the_limit("at_least", least):
            yield f"assumption {assumption.name!r} asks for {named!r} {least!r} times"
        if assumption.name == "happened" and not _EVENT.fullmatch(named):
            yield f"assumption 'happened' of {named!r}: write kind:outcome or kind:outcome:CODE, such as hold:ok"
        if assumption.name == "became" and (said := _of_the_state(named)):
            yield f"assumption 'became' of {named!r}: {said}"


def _of_the_state(named: str) -> str:
    match = _STATE.fullmatch(named)
    if match is None:
        return "write table:STATE, such as offers:EXPIRED"
    words = STATES.get(match["table"])
    if words is None:
        return f"no such table has states; there are: {', '.join(STATES)}"
    return "" if match["state"] in words else f"there is no such state; there are: {', '.join(words)}"
