"""A misspelled name is answered with what may have been meant."""

from __future__ import annotations

import pytest

from chaos.nearest import meant

THERE = ("oversell-read-write", "oversell-subquery-guard", "no-claim", "last_seat_race")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("last-seat-rac", " Did you mean 'last_seat_race'?"),
        ("OVERSELL", " Did you mean 'oversell-read-write' or 'oversell-subquery-guard'?"),
        ("claim", " Did you mean 'no-claim'?"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_names_near_it_come_first_and_then_those_it_is_a_part_of(said: str, answer: str) -> None:
    assert meant(said, THERE, most=3) == answer


def test_no_more_are_named_than_asked_for() -> None:
    assert meant("oversell", THERE) == " Did you mean 'oversell-read-write'?"
