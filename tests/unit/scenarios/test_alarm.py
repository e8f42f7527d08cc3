"""The alarm wakes at an instant, neither early nor asleep for ever."""

from __future__ import annotations

import time

import gevent

from scenarios.dispatch.alarm import Alarm
from scenarios.dispatch.health import quantile

MS = 1_000_000


def test_it_never_wakes_early_and_says_how_late_it_was() -> None:
    alarm = Alarm()
    for _ in range(5):
        due = time.monotonic_ns() + 3 * MS
        late = alarm.until(due)
        assert 0 <= late <= time.monotonic_ns() - due
    alarm.close()


def test_an_instant_that_is_past_is_not_waited_for() -> None:
    alarm = Alarm()
    began = time.monotonic_ns()
    assert alarm.until(began - 50 * MS) >= 50 * MS
    assert time.monotonic_ns() - began < 1_000 * MS
    alarm.close()


def test_others_go_on_while_it_sleeps() -> None:
    alarm = Alarm()
    seen: list[int] = []
    other = gevent.spawn(lambda: seen.append(time.monotonic_ns()))
    due = time.monotonic_ns() + 20 * MS
    alarm.until(due)
    assert seen
    assert seen[0] < due
    other.join()
    alarm.close()


def test_a_quantile_is_a_value_that_occurred() -> None:
    assert quantile([], 0.99) == 0.0
    assert quantile([5, 1, 3], 0.5) == 3.0
    assert quantile(list(range(100)), 0.99) == 99.0
