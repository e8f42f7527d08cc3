"""The race that is told is the one that matters, with each commit on the lane of the buyer who caused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement
from reports import evidence, trail
from reports.race import timeline

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict
    from reports.race import Timeline


def _told(folder: Path, verdict: Verdict) -> Timeline:
    run = evidence.read(folder)
    with trail.opened(run) as opened:
        told = timeline(run, verdict, opened)
    assert told is not None
    return told


def test_of_a_violation_the_violated_race_is_told(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True)
    race = _told(folder, make_verdict(folder, Judgement.INVALID))
    assert (race.race, race.subject) == (7, "8")
    assert [lane.won for lane in race.lanes].count(True) == 2
    assert "never_oversold" in race.why


def test_otherwise_the_race_whose_buyers_left_closest_together_is_told(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run()
    race = _told(folder, make_verdict(folder))
    operations = evidence.read(folder).operations
    assert operations is not None
    sent = operations[operations["race"].notna()].groupby("race")["sent_ms"]
    assert race.skew_ms == pytest.approx((sent.max() - sent.min()).min())
    assert race.races == 20


def test_each_buyer_has_one_lane_and_leaves_in_the_order_shown(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True)
    race = _told(folder, make_verdict(folder, Judgement.INVALID))
    assert [lane.bars[0].sent_ms for lane in race.lanes] == sorted(
        lane.bars[0].sent_ms for lane in race.lanes
    )
    assert sorted(lane.buyer for lane in race.lanes) == [f"buyer-{number}" for number in range(70, 80)]
    assert all(bar.left >= 0 and bar.left + bar.width <= 100 for lane in race.lanes for bar in lane.bars)


def test_a_commit_stands_on_the_lane_of_its_buyer_between_sent_and_done(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True)
    race = _told(folder, make_verdict(folder, Judgement.INVALID))
    assert race.other_ticks == ()
    for lane in race.lanes:
        assert len(lane.ticks) == int(lane.won)
        for tick in lane.ticks:
            (bar,) = lane.bars
            assert bar.done_ms is not None
            assert bar.sent_ms <= tick.at_ms <= bar.done_ms
            # The builder commits 0.7 ms before the answer; the database's clock prints whole microseconds.
            assert bar.done_ms - tick.at_ms == pytest.approx(0.7, abs=0.002)


def test_without_the_clock_of_the_database_the_race_is_told_without_commits(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True)
    (folder / "clocks.parquet").unlink()
    race = _told(folder, make_verdict(folder, Judgement.INVALID))
    assert all(lane.ticks == () for lane in race.lanes)
    assert "clock was not recorded" in race.commits_note


def test_a_run_without_races_tells_none(tmp_path: Path, make_verdict: Callable[..., Verdict]) -> None:
    run = evidence.read(tmp_path)
    with trail.opened(run) as opened:
        assert timeline(run, make_verdict(tmp_path), opened) is None


def test_occupancy_rises_above_capacity_only_where_it_was_oversold(make_run: Callable[..., Path]) -> None:
    over = {}
    for name, oversold in (("2026-05-04T12-30-00Z", False), ("2026-05-04T12-31-00Z", True)):
        run = evidence.read(make_run(name, oversold=oversold))
        with trail.opened(run) as opened:
            occupied = opened.occupancy()
        assert occupied is not None
        over[oversold] = list(occupied.loc[occupied["claimed"] > occupied["capacity"], "resource"])
    assert over == {False: [], True: ["8"]}
