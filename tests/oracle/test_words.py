"""A state in a word that nobody knows claims nothing: what rests on states is then unknown, and no pass is earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import states_known
from checker.canonical import STATES
from checker.evidence import open_evidence
from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def test_the_words_are_those_of_the_legal_moves(run: Run) -> None:
    with open_evidence(run.write(), run.brief) as evidence:
        moves = evidence.rows("SELECT source, before FROM moves UNION SELECT source, after FROM moves")
    for table, words in STATES.items():
        assert {word for source, word in moves if source == table} == set(words)


@pytest.mark.parametrize("word", ["PENDING_REVIEW", None])
def test_seats_held_in_an_unknown_word_earn_no_pass(run: Run, word: str | None) -> None:
    run.resource("r", capacity=1)
    for number in (1, 2):
        run.commit(number, run.told_of(run.held(f"h{number}", "r", key=f"k{number}"), state=word))
    premise = run.premise(states_known())
    assert (premise.holds, premise.measured) == (False, f"holds are {word or 'null'} 4×")
    assert run.finding("never_oversold").judgement is Judgement.UNKNOWN
    assert run.finding("sold_out_is_true").judgement is Judgement.UNKNOWN
    assert "states_known does not hold" in "; ".join(run.verdict().reasons)


def test_a_seat_sold_twice_stays_sold_twice_beside_an_unknown_word(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=4, commit=5, done=6, count=1)
    run.commit(7, run.told_of(run.held("h3", "r", key="k3"), state="ODD"))
    assert run.finding("never_oversold").judgement is Judgement.INVALID
    assert run.finding("occupancy_matches_claims").judgement is Judgement.UNKNOWN


def test_a_pass_needs_the_whole_trail_where_a_finding_does_not(run: Run) -> None:
    run.resource("r", capacity=2)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    lost = run.commit(5, *run.recorded("k2"), run.held("h2", "r", key="k2"), run.counted("r", 2))
    run.operation("hold", "r", sent=4, done=6, key="k2", created="h2")
    run.lost_commits.add(lost)
    finding = run.finding("one_effect_per_key")
    assert finding.judgement is Judgement.UNKNOWN
    assert finding.reason == "nothing was violated, but without trail_complete"
