"""How faults are spelled on the command line."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from chaos.nearest import meant
from chaos.schedule import Condition, Planned
from chaos.values import name_of, valued

if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import Field

    from chaos.fault import Fault

GRAMMAR = """KIND:WHERE[/WAY][=VALUE[,NAME=VALUE …]][@START[+DURATION]]
  KIND   what breaks, e.g. cut, kill, provider
  WHERE  a link (pg-a), a process (node-a, postgres, redis), a provider (notification) or a group (pg: pg-a, pg-b …;
         worker: all workers); leader is the expiry worker that holds the lease at that time
  WAY    of links: upstream (requests), downstream (replies) or both
  VALUE  a whole number with its unit: 100ms, 64KB/s, 16B, 500us, +3600s; or a word
  START  in seconds or ms after the load began, or a share that has to be reached: @2s, @progress=50% of the buyers
         are through, @sold=50% of the capacity is taken
  DURATION in seconds or ms; what is over at once (flush, rollback, restart) has none; without both it holds for the whole load
for example latency:pg=100ms,jitter=20ms  cut:redis@2s+2s  blackhole:pg-a/upstream@1s+500ms  kill:node-a@progress=50%+1s
  pause:leader@1s+500ms  crash:postgres@2s+1s  flush:redis@2s  clock:node-b=+3600s  provider:notification=down@1s+2s"""

_SPELLING = re.compile(
    r"(?P<kind>\w+):(?P<where>[\w-]+)(/(?P<way>\w+))?(=(?P<values>[^@]+))?(@(?P<start>[^+@]+)(\+(?P<length>[^+@]+))?)?"
)
_UNITS: Mapping[str, Mapping[str, float]] = {
    "ms": {"ms": 1, "s": 1_000},
    "us": {"us": 1, "ms": 1_000, "s": 1_000_000},
    "B": {"B": 1, "KB": 1_000, "MB": 1_000_000},
    "KB/s": {"KB/s": 1, "MB/s": 1_000},
    "s": {"s": 1, "ms": 0.001},
    "%": {"%": 1},
    "": {"": 1},
}


class FaultSpellingError(ValueError):
    """A fault on the command line cannot be read; the text says what, where in it, and what to write."""

    def __init__(self, spelled: str, problem: str) -> None:
        super().__init__(f"{problem} in {spelled!r}. A fault is written {GRAMMAR}")


def read(spelled: str, kinds: Mapping[str, type[Fault]]) -> Planned:
    """Read a fault of one of these kinds as the command line takes it; see GRAMMAR. Raises FaultSpellingError."""
    match = _SPELLING.fullmatch(spelled.strip())
    if match is None:
        raise FaultSpellingError(spelled, "a fault that cannot be read")
    kind: Any = kinds.get(match["kind"])
    if kind is None:
        near = meant(match["kind"], kinds)
        raise FaultSpellingError(
            spelled, f"unknown kind {match['kind']!r} (known: {', '.join(kinds)}.{near})"
        )
    given = _values(spelled, kind, match["values"])
    if match["way"]:
        if kind.acts_on != "link":
            raise FaultSpellingError(spelled, f"'/{match['way']}', though {kind.kind} breaks no link,")
        given["stream"] = match["way"]
    try:
        return Planned(fault=kind(match["where"], **given), **_times(spelled, kind, match))
    except (ValueError, TypeError) as error:
        if isinstance(error, FaultSpellingError):
            raise
        raise FaultSpellingError(spelled, _plainly(error, kind.kind)) from error


def _times(spelled: str, kind: Any, match: re.Match[str]) -> dict[str, Any]:
    """Read `2s+500ms`, `2s` or `progress=50%+1s`."""
    start, length = match["start"], match["length"]
    moment = kind.span == "moment"
    if start is None:
        return {"heal_after": 0.0 if moment else math.inf}
    if length is None and not moment:
        raise FaultSpellingError(spelled, f"no duration, though {match['kind']} must be healed,")
    times: dict[str, Any] = {"heal_after": _number(spelled, length, "s") if length else 0.0}
    probe, conditional, share = start.partition("=")
    if conditional:
        return times | {"after": Condition(probe=probe, at_least=_number(spelled, share, "%") / 100)}
    return times | {"seconds": _number(spelled, start, "s")}


def _values(spelled: str, kind: Any, text: str | None) -> dict[str, Any]:
    """Read `100ms,jitter=20ms`: the first value of a kind goes without its name."""
    known = valued(kind)
    names = {name_of(each): each for each in known[1:]}
    values: dict[str, Any] = {}
    for place, part in enumerate(text.split(",") if text else ()):
        name, named, given = part.partition("=")
        wanted = names.get(name) if named else known[0] if known and place == 0 else None
        if wanted is None:
            takes = ", ".join(["a value", *(f"{each}=…" for each in names)]) if known else "no value"
            raise FaultSpellingError(spelled, f"{part!r} where {kind.kind} takes {takes}")
        values[wanted.name] = _value(spelled, given if named else part, wanted)
    return values


def _value(spelled: str, text: str, wanted: Field[Any]) -> int | str:
    """Read one value: a word, or a whole number that may have a sign."""
    if "choices" in wanted.metadata:
        return text
    if wanted.metadata.get("signed") and text[:1] in {"+", "-"}:
        size = round(_number(spelled, text[1:], wanted.metadata["unit"]))
        return -size if text[0] == "-" else size
    return round(_number(spelled, text, wanted.metadata["unit"]))


def _number(spelled: str, text: str, unit: str) -> float:
    """Read a number with its unit into the wished unit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z/%]*)", text.strip())
    scale = _UNITS[unit].get(match[2]) if match else None
    if match is None or scale is None:
        units = " or ".join(each for each in _UNITS[unit] if each)
        raise FaultSpellingError(spelled, f"{text!r} where a number{f' in {units}' if units else ''} belongs")
    return float(match[1]) * scale


def _plainly(error: Exception, kind: str) -> str:
    """Say a missing value in the reader's words."""
    if isinstance(error, TypeError):
        return f"no value, though {kind} needs one,"
    return str(error)
