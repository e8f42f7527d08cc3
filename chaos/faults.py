"""Faults as frozen data, under one roof: what can break, when, and how it is spelled on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaos import spelling
from chaos.delay_faults import Latency, SlowClose
from chaos.fault import Fault, NotSeen, Reach, Unwell
from chaos.launch_faults import Clock, CrashAt
from chaos.link_faults import Blackhole, Cut, LinkFault
from chaos.process_faults import Crash, Kill, Pause, ProcessFault, Restart, Terminate
from chaos.provider_faults import ProviderFault
from chaos.schedule import Condition, Planned, at, every, throughout, when
from chaos.spelling import GRAMMAR, FaultSpellingError
from chaos.store_faults import Flush, Rollback
from chaos.stream_faults import Bandwidth, LimitData, LostReply, Reset, Slicer

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GRAMMAR",
    "KINDS",
    "Bandwidth",
    "Blackhole",
    "Clock",
    "Condition",
    "Crash",
    "CrashAt",
    "Cut",
    "Fault",
    "FaultSpellingError",
    "Flush",
    "Kill",
    "Latency",
    "LimitData",
    "LostReply",
    "NotSeen",
    "Pause",
    "Planned",
    "ProviderFault",
    "Reach",
    "Reset",
    "Restart",
    "Rollback",
    "Slicer",
    "SlowClose",
    "Terminate",
    "Unwell",
    "at",
    "every",
    "parse",
    "throughout",
    "when",
]

_KINDS: tuple[type[LinkFault | ProcessFault | ProviderFault], ...] = (
    *(Bandwidth, Blackhole, Cut, Latency, LimitData, LostReply, Reset, Slicer, SlowClose),
    *(Pause, Kill, Terminate, Restart, Crash, Flush, Rollback, Clock, CrashAt),
    ProviderFault,
)
KINDS: Mapping[str, type[LinkFault | ProcessFault | ProviderFault]] = {each.kind: each for each in _KINDS}


def parse(spelled: str) -> Planned:
    """Read a fault as the command line takes it; see GRAMMAR. Raises FaultSpellingError."""
    return spelling.read(spelled, KINDS)
