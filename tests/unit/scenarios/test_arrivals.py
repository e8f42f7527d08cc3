"""Arrivals come when the schedule says, the same for any number of load processes."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from scenarios.arrivals import Schedule, barrier, burst, ladder, poisson, ramp, spike, steady

SECOND = 1_000_000_000
EVERY_KIND = {
    "burst": burst(300, within=0.5),
    "steady": steady(rate=200, seconds=2),
    "poisson": poisson(rate=200, seconds=2),
    "ramp": ramp(rate=0, until=400, seconds=2),
    "spike": spike(rate=20, peak=400, seconds=2),
    "ladder": ladder(50, 100, 200, seconds_each=1.0),
    "sum": burst(100, within=0.2) + steady(rate=50, seconds=1).after(0.5),
}


@pytest.mark.parametrize("schedule", EVERY_KIND.values(), ids=EVERY_KIND.keys())
def test_the_union_of_all_shards_is_the_schedule_of_one(schedule: Schedule) -> None:
    whole = list(schedule.arrivals(7))
    parts = [list(schedule.arrivals(7, shard=shard, shards=3)) for shard in range(3)]
    assert sorted(arrival for part in parts for arrival in part) == whole
    assert all(parts)


@pytest.mark.parametrize("schedule", EVERY_KIND.values(), ids=EVERY_KIND.keys())
def test_a_seed_fixes_every_instant_and_ids_are_never_shared(schedule: Schedule) -> None:
    once, again = list(schedule.arrivals(7)), list(schedule.arrivals(7))
    assert once == again
    assert len({arrival.id for arrival in once}) == len(once)
    assert all(earlier.at_ns <= later.at_ns for earlier, later in pairwise(once))


@pytest.mark.parametrize("schedule", EVERY_KIND.values(), ids=EVERY_KIND.keys())
def test_a_schedule_survives_its_journey_in_the_plan(schedule: Schedule) -> None:
    travelled = msgspec.json.decode(msgspec.json.encode(schedule), type=Schedule)
    assert list(travelled.arrivals(3)) == list(schedule.arrivals(3))


def test_another_seed_gives_another_burst() -> None:
    schedule = burst(50, within=1.0)
    assert [a.at_ns for a in schedule.arrivals(1)] != [a.at_ns for a in schedule.arrivals(2)]


def test_steady_arrivals_are_evenly_apart() -> None:
    instants = [arrival.at_ns for arrival in steady(rate=100, seconds=1).arrivals(1)]
    assert len(instants) == 100
    assert {round((later - earlier) / 1_000_000) for earlier, later in pairwise(instants)} == {10}


def test_poisson_arrivals_keep_their_rate_and_vary_as_they_should() -> None:
    instants = [arrival.at_ns for arrival in poisson(rate=500, seconds=10).arrivals(11)]
    assert 4_700 < len(instants) < 5_300
    gaps = [(later - earlier) / SECOND for earlier, later in pairwise(instants)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert 0.9 < variance / mean**2 < 1.1


def test_a_ramp_puts_three_quarters_of_its_arrivals_into_its_second_half() -> None:
    instants = [arrival.at_ns for arrival in ramp(rate=0, until=1_000, seconds=4).arrivals(5)]
    late = sum(at > 2 * SECOND for at in instants) / len(instants)
    assert 0.70 < late < 0.80


def test_a_spike_peaks_after_a_fifth_of_its_time() -> None:
    instants = [arrival.at_ns for arrival in spike(rate=10, peak=1_000, seconds=5).arrivals(5)]
    around_the_peak = sum(SECOND // 2 <= at < 3 * SECOND // 2 for at in instants)
    assert around_the_peak > sum(at < SECOND // 2 for at in instants)
    assert around_the_peak > sum(3 * SECOND // 2 <= at < 5 * SECOND // 2 for at in instants)


def test_a_barrier_gives_no_open_loop_arrivals_and_cannot_be_moved() -> None:
    race = barrier(200, width=10)
    assert list(race.arrivals(1)) == []
    with pytest.raises(TypeError, match="follow each other"):
        race.after(1.0)


@pytest.mark.parametrize(
    "schedule",
    [
        barrier(0, width=10),
        barrier(5, width=1),
        burst(0, within=1),
        steady(rate=-1, seconds=1),
        steady(rate=0, seconds=1),
        steady(rate=5, seconds=0),
        barrier(5, width=2) + steady(rate=1, seconds=1),
        Schedule(pieces=()),
    ],
)
def test_impossible_schedules_are_refused_with_a_sentence(schedule: Schedule) -> None:
    assert all(len(sentence) > 20 for sentence in schedule.refusals())
    assert schedule.refusals()
