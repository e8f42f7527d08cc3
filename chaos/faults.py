"""Faults as frozen data, under one roof: what can break, when, and how it is spelled on the command line."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from chaos.link_faults import Blackhole, Cut, Latency, LinkFault
from chaos.schedule import Fault, NotSeen, Planned, Reach, Unwell, at, throughout
from chaos.stream_faults import Bandwidth, LimitData, LostReply, Reset, Slicer, SlowClose

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GRAMMAR",
    "KINDS",
    "Bandwidth",
    "Blackhole",
    "Cut",
    "Fault",
    "FaultSpellingError",
    "Latency",
    "LimitData",
    "LostReply",
    "NotSeen",
    "Planned",
    "Reach",
    "Reset",
    "Slicer",
    "SlowClose",
    "Unwell",
    "at",
    "parse",
    "throughout",
]

KINDS: Mapping[str, type[LinkFault]] = {
    kind.kind: kind
    for kind in (Bandwidth, Blackhole, Cut, Latency, LimitData, LostReply, Reset, Slicer, SlowClose)
}

GRAMMAR = """KIND:WHERE[/WAY][=VALUE[,NAME=VALUE …]][@START+DURATION]
  KIND   what breaks, e.g. cut, latency, blackhole
  WHERE  a link (pg-a) or a group of links (pg: pg-a, pg-b …)
  WAY    upstream (requests), downstream (replies) or both
  VALUE  a whole number with its unit: 100ms, 64KB/s, 16B, 500us
  START  and DURATION in seconds or ms after the load began: @2s+500ms; left out, it holds for the whole load
for example latency:pg=100ms,jitter=20ms  cut:redis@2s+2s  blackhole:pg-a/upstream@1s+500ms"""

_SPELLING = re.compile(
    r"(?P<kind>\w+):(?P<where>[\w-]+)(/(?P<way>\w+))?(=(?P<values>[^@]+))?(@(?P<start>[^+@]+)\+(?P<length>[^+@]+))?"
)
_UNITS: Mapping[str, Mapping[str, float]] = {
    "ms": {"ms": 1, "s": 1_000},
    "us": {"us": 1, "ms": 1_000, "s": 1_000_000},
    "B": {"B": 1, "KB": 1_000, "MB": 1_000_000},
    "KB/s": {"KB/s": 1, "MB/s": 1_000},
    "s": {"s": 1, "ms": 0.001},
}


class FaultSpellingError(ValueError):
    """A fault on the command line cannot be read; the text says what, where in it, and what to write."""

    def __init__(self, spelled: str, problem: str) -> None:
        super().__init__(f"{problem} in {spelled!r}. A fault is written {GRAMMAR}")


def parse(spelled: str) -> Planned:
    """Read a fault as the command line takes it; see GRAMMAR. Raises FaultSpellingError."""
    match = _SPELLING.fullmatch(spelled.strip())
    if match is None:
        raise FaultSpellingError(spelled, "a fault that cannot be read")
    kind = KINDS.get(match["kind"])
    if kind is None:
        raise FaultSpellingError(spelled, f"unknown kind {match['kind']!r} (known: {', '.join(KINDS)})")
    values = _values(spelled, kind, match["values"])
    if match["way"]:
        values["stream"] = match["way"]
    start, length = (
        _number(spelled, match["start"], "s") if match["start"] else 0.0,
        _number(spelled, match["length"], "s") if match["length"] else math.inf,
    )
    try:
        return Planned(fault=kind(match["where"], **values), seconds=start, heal_after=length)
    except (ValueError, TypeError) as error:
        raise FaultSpellingError(spelled, _plainly(error, kind)) from error


def _values(spelled: str, kind: type[LinkFault], text: str | None) -> dict[str, Any]:
    """Read `100ms,jitter=20ms`: the first value of a kind goes without its name."""
    known = [each for each in fields(kind) if "unit" in each.metadata]
    names = {each.name.rpartition("_")[0]: each for each in known[1:]}
    values: dict[str, Any] = {}
    for place, part in enumerate(text.split(",") if text else ()):
        name, named, number = part.rpartition("=")
        wanted = names.get(name) if named else known[0] if known and place == 0 else None
        if wanted is None:
            takes = ", ".join(["a value", *(f"{each}=…" for each in names)]) if known else "no value"
            raise FaultSpellingError(spelled, f"{part!r} where {kind.kind} takes {takes}")
        values[wanted.name] = round(_number(spelled, number, wanted.metadata["unit"]))
    return values


def _number(spelled: str, text: str, unit: str) -> float:
    """Read a number with its unit into the wished unit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z/]*)", text.strip())
    scale = _UNITS[unit].get(match[2] or unit) if match else None
    if match is None or scale is None:
        raise FaultSpellingError(spelled, f"{text!r} where a number in {' or '.join(_UNITS[unit])} belongs")
    return float(match[1]) * scale


def _plainly(error: Exception, kind: type[LinkFault]) -> str:
    """Say a missing value in the reader's words."""
    if isinstance(error, TypeError):
        return f"no value, though {kind.kind} needs one,"
    return str(error)
