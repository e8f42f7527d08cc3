"""How the load process fares: whoever sleeps until an instant and wakes late would also have sent late."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import gevent

from scenarios.control import Health
from scenarios.dispatch.alarm import Alarm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TICK_NS = 10_000_000
_TICKS_A_READING = 50
_ALL_MAX = 1_000_000


class Pulse:
    """Wakes every 10 ms and tells of the lag twice a second; `lags_ns` holds every lag of the run (bounded)."""

    __slots__ = (
        "_alarm",
        "_began_cpu",
        "_began_ns",
        "_counts",
        "_greenlet",
        "_lags",
        "_shard",
        "_tell",
        "lags_ns",
    )

    def __init__(
        self, shard: int, tell: Callable[[Health], None], counts: Callable[[], tuple[int, int]]
    ) -> None:
        """Begin; `counts` tells the arrivals and the dropped so far."""
        self._shard = shard
        self._tell = tell
        self._counts = counts
        self._lags: list[int] = []
        self._began_ns, self._began_cpu = time.monotonic_ns(), time.process_time_ns()
        self._alarm = Alarm()
        self.lags_ns: list[int] = []
        self._greenlet = gevent.spawn(self._beat)

    def stop(self) -> None:
        """Stop beating, and tell of what is left to tell."""
        self._greenlet.kill()
        self._alarm.close()
        self._read()

    def _beat(self) -> None:
        due = time.monotonic_ns() + _TICK_NS
        while True:
            self._lags.append(self._alarm.until(due))
            due = max(due + _TICK_NS, time.monotonic_ns())
            if len(self._lags) >= _TICKS_A_READING:
                self._read()

    def _read(self) -> None:
        """Tell of the time since the last reading."""
        lags, self._lags = self._lags, []
        if len(self.lags_ns) < _ALL_MAX:
            self.lags_ns += lags
        before = time.monotonic_ns()
        real_ns = time.time_ns()
        after = time.monotonic_ns()
        cpu = time.process_time_ns()
        arrivals, dropped = self._counts()
        self._tell(
            Health(
                shard=self._shard,
                mono_ns=(before + after) // 2,
                real_ns=real_ns,
                slack_ns=after - before,
                lag_p50_us=quantile(lags, 0.50) / 1_000,
                lag_p99_us=quantile(lags, 0.99) / 1_000,
                lag_max_us=max(lags, default=0) / 1_000,
                cpu_share=(cpu - self._began_cpu) / max(after - self._began_ns, 1),
                arrivals=arrivals,
                dropped=dropped,
            )
        )
        self._began_ns, self._began_cpu = after, cpu


def quantile(values: Sequence[int], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed; 0 of none."""
    ordered = sorted(values)
    return float(ordered[min(int(share * len(ordered)), len(ordered) - 1)]) if ordered else 0.0
