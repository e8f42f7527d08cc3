"""A load generator that was tired, or a machine that could not keep up, proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import load_healthy
from checker.brief import Assumption

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def test_a_load_that_left_on_time_is_healthy(run: Run) -> None:
    run.operation("hold", "r", sent=2, intended=1, done=3, key="k")
    run.sample("load/0", "arrivals", 10)
    run.sample("load/0", "dropped", 0)
    run.sample("load/0", "lag_max_us", 12_000)
    premise = run.premise(load_healthy(lag_ms_p99_max=1, dropped_share_max=0.1))
    assert (premise.holds, premise.measured) == (
        True,
        "1.00 ms late at p99, 0.0% dropped (0 of 10), still for 12 ms at worst",
    )


def test_a_load_that_stood_still_once_is_tired_however_quick_it_was_else(run: Run) -> None:
    for number in range(200):
        run.operation("hold", "r", sent=number, done=number + 1, key=f"k{number}")
    run.sample("load/0", "arrivals", 200)
    run.sample("load/0", "lag_max_us", 9_000, at=100)
    assert run.premise(load_healthy()).holds
    run.sample("load/0", "lag_max_us", 2_000_000, at=600)
    premise = run.premise(load_healthy())
    assert not premise.holds
    assert "still for 2000 ms at worst" in premise.measured


def test_every_load_process_must_have_a_pulse(run: Run) -> None:
    run.given(shards=2)
    for shard in (0, 1):
        run.operation("hold", "r", sent=1, done=2, key=f"k{shard}", shard=shard)
        run.sample(f"load/{shard}", "arrivals", 1)
    run.sample("load/0", "lag_max_us", 9_000)
    premise = run.premise(load_healthy())
    assert not premise.holds
    assert "the pulse of 1 of 2 load processes was heard" in premise.measured
    run.sample("load/1", "lag_max_us", 9_000)
    assert run.premise(load_healthy()).holds


def test_a_load_that_left_late_is_tired(run: Run) -> None:
    run.operation("hold", "r", sent=4, intended=1, done=5, key="k")
    run.sample("load/0", "arrivals", 10)
    run.sample("load/0", "lag_max_us", 9_000)
    assert not run.premise(load_healthy(lag_ms_p99_max=2.9, dropped_share_max=0.1)).holds


def test_retries_are_not_late_arrivals(run: Run) -> None:
    run.operation("hold", "r", sent=1, intended=1, done=5, key="k")
    run.operation("hold", "r", sent=90, intended=1, done=95, key="k", attempt=2)
    run.sample("load/0", "arrivals", 10)
    run.sample("load/0", "lag_max_us", 9_000)
    assert run.premise(load_healthy(lag_ms_p99_max=1, dropped_share_max=0.1)).holds


def test_a_load_that_dropped_arrivals_is_tired(run: Run) -> None:
    run.operation("hold", "r", sent=1, done=5, key="k")
    for shard in (0, 1):
        run.sample(f"load/{shard}", "arrivals", 5, at=1)
        run.sample(f"load/{shard}", "arrivals", 10, at=2)
        run.sample(f"load/{shard}", "dropped", 1, at=2)
    run.sample("load/0", "lag_max_us", 9_000)
    premise = run.premise(load_healthy(lag_ms_p99_max=1, dropped_share_max=0.05))
    assert (premise.holds, premise.measured) == (
        False,
        "0.00 ms late at p99, 10.0% dropped (2 of 20), still for 9 ms at worst",
    )


def test_a_load_whose_arrivals_nobody_counted_is_not_known_to_be_healthy(run: Run) -> None:
    run.operation("hold", "r", sent=1, done=5, key="k")
    run.sample("load/0", "lag_max_us", 9_000)
    assert not run.premise(load_healthy(lag_ms_p99_max=1, dropped_share_max=1)).holds


def fared_well(run: Run) -> None:
    run.operation("hold", "r", sent=1, done=50, key="k")
    run.sample("load/0", "arrivals", 10)
    run.sample("load/0", "lag_max_us", 9_000)
    run.sample("load/0", "cpu_share", 0.2, at=10)
    run.sample("machine", "cpu_pressure", 0.3, at=10)


def test_a_load_that_fared_well_says_how_well(run: Run) -> None:
    fared_well(run)
    premise = run.premise(load_healthy())
    assert premise.holds
    assert premise.measured.endswith(
        "a load process used 20% of a processor, something waited for a processor for 30% of the time"
    )


@pytest.mark.parametrize(
    ("sample", "holds"),
    [
        (("load/0", "cpu_share", 0.95, 20), False),
        (("load/0", "cpu_share", 0.85, 20), True),
        (("node-a", "cpu_share", 0.99, 20), True),
        (("machine", "cpu_pressure", 0.99, 20), True),  # for half of the time
        (("machine", "cpu_pressure", 0.99, 60), True),  # after the load
    ],
)
def test_a_load_process_that_is_too_busy_measures_itself(
    run: Run, sample: tuple[str, str, float, float], holds: bool
) -> None:
    fared_well(run)
    run.sample(*sample)
    premise = run.premise(load_healthy())
    assert (premise.holds, "used 95% of a processor" in premise.measured) == (holds, not holds)


def test_a_machine_on_which_everybody_waited_counts_where_less_is_asked_for(run: Run) -> None:
    fared_well(run)
    run.samples.pop()
    run.sample("machine", "cpu_pressure", 0.95, at=20)
    assert run.premise(load_healthy()).holds
    premise = run.premise(load_healthy(pressure_share_max=0.9))
    assert not premise.holds
    assert premise.required.endswith("nothing that waited for a processor for more than 90% of the time")


@pytest.mark.parametrize("at", [0, 60])
def test_what_a_load_process_does_before_and_after_the_load_is_not_the_load(run: Run, at: float) -> None:
    fared_well(run)
    run.sample("load/0", "cpu_share", 0.95, at=at)
    assert run.premise(load_healthy()).holds


def test_a_brief_that_names_no_limit_means_the_usual_one(run: Run) -> None:
    fared_well(run)
    run.sample("load/0", "cpu_share", 0.95, at=20)
    assert not run.premise(Assumption(name="load_healthy", kind="vacuity")).holds
