"""How much of the machine was used while something was measured, and by whom."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field

import psutil


def _busy() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


def _own() -> float:
    """Return the CPU seconds of this process and all below it, those that have ended and been waited for included."""
    me, seconds = psutil.Process(), 0.0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:4])  # its own and its ended children's
    return seconds


@dataclass(slots=True)
class Neighbours:
    """Watches from its making on: CPU seconds that were used by this process and its descendants, and by others."""

    _began: float = field(default_factory=time.monotonic)
    _all: float = field(default_factory=_busy)
    _own: float = field(default_factory=_own)

    def cores(self) -> tuple[float, float]:
        """Return how many cores this benchmark and how many others (a hypervisor's theft included) kept busy on average."""
        seconds = time.monotonic() - self._began
        own = _own() - self._own
        return own / seconds, max(0.0, _busy() - self._all - own) / seconds
