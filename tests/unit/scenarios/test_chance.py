"""Chance is keyed by what it decides, never drawn from a shared generator."""

from __future__ import annotations

from collections import Counter

from scenarios.chance import Shares, draw, pick


def test_a_draw_depends_on_seed_subject_and_purpose_alone() -> None:
    assert draw(1, 2, "habit") == draw(1, 2, "habit")
    assert len({draw(1, 2, "habit"), draw(2, 2, "habit"), draw(1, 3, "habit"), draw(1, 2, "gap")}) == 4


def test_draws_are_spread_evenly_over_the_unit_interval() -> None:
    tenths = Counter(int(draw(3, subject, "even") * 10) for subject in range(10_000))
    assert set(tenths) == set(range(10))
    assert all(850 < count < 1_150 for count in tenths.values())


def test_a_pick_is_always_a_valid_index() -> None:
    assert {pick(5, subject, "seat", 3) for subject in range(200)} == {0, 1, 2}


def test_shares_are_met_in_the_long_run_when_drawn() -> None:
    shares = Shares({"eager": 0.8, "bot": 0.2})
    drawn = Counter(shares.drawn(1, arrival, "habit") for arrival in range(5_000))
    assert 0.77 < drawn["eager"] / 5_000 < 0.83


def test_shares_are_met_exactly_when_dealt() -> None:
    dealt = Shares({"racer": 0.5, "careful_racer": 0.5}).dealt(200)
    assert Counter(dealt) == {"racer": 100, "careful_racer": 100}
    assert dealt[:4] == ("racer", "careful_racer", "racer", "careful_racer")
