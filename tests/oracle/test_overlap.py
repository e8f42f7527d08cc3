"""Whether what should have raced did race: in flight together, and contended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import contended, in_flight_together
from checker.assumptions.overlap import QUEUED_MIN
from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def race(
    run: Run,
    number: int,
    *,
    rivals: int,
    keyed: list[float],
    committed: list[float],
    sent: float = 0,
    done: float = 500,
) -> None:
    """One race for one seat: when each rival's key was written and when it committed; the first one wins."""
    resource = f"r{number}"
    run.resource(resource, capacity=1)
    for rival in range(rivals):
        key = f"{number}-{rival}"
        record, answer = run.recorded(key, opened=keyed[rival])
        if rival == 0:
            changes = [record, run.held(key, resource, key=key), run.counted(resource, 1), answer]
            run.operation("hold", resource, sent=sent, done=done, key=key, created=key, race=number)
        else:
            changes = [record, answer]
            run.refused(resource, sent=sent, done=done, key=key, race=number)
        run.commit(committed[rival], *changes)


def test_rivals_that_wait_for_the_row_contend(run: Run) -> None:
    race(run, 1, rivals=3, keyed=[1, 2, 3], committed=[10, 11, 12])
    premise = run.premise(contended(at_least_share=1.0))
    assert (premise.holds, premise.measured) == (True, "1 of 1 races; in the median race 3 were open at once")


def test_rivals_behind_one_lock_are_in_flight_together_but_never_contend(run: Run) -> None:
    race(run, 1, rivals=3, keyed=[9, 10.5, 11.5], committed=[10, 11, 12])
    assert run.premise(in_flight_together(at_least=3)).holds
    premise = run.premise(contended(at_least_share=0.1))
    assert (premise.holds, premise.measured) == (
        False,
        "0 of 1 races; in the median race 1 were open at once",
    )


def test_a_run_that_did_not_contend_is_unknown_not_valid(run: Run) -> None:
    race(run, 1, rivals=3, keyed=[9, 10.5, 11.5], committed=[10, 11, 12])
    run.assume(contended(at_least_share=0.1))
    verdict = run.verdict()
    assert verdict.judgement is Judgement.UNKNOWN
    assert [reason for reason in verdict.reasons if reason.startswith("contended does not hold")]


def test_a_race_without_contention_counts_against_the_share(run: Run) -> None:
    race(run, 1, rivals=2, keyed=[1, 2], committed=[10, 11])
    race(run, 2, rivals=2, keyed=[21, 30.5], committed=[30, 31])
    assert run.premise(contended(at_least_share=0.5)).holds
    assert not run.premise(contended(at_least_share=0.6)).holds


def _many(run: Run, *, works_alone: bool) -> None:
    """Many races at once whose rivals all wait: for their own rows, or for one lock taken after the key is written."""
    races = QUEUED_MIN // 4
    for number in range(races):
        first = 1_000.0 + number * 10
        # Two rivals of neighbouring races that hold their rows at the same time commit after one another's work.
        committed = [first, first + 2, first + 4, first + 6, first + 8]
        race(run, number, rivals=5, keyed=[1 + number * 0.01] * 5, committed=committed, done=9_000)
    if not works_alone:
        for commit in run.commits[1:6]:
            commit["lsn"] = run.commits[0]["lsn"] + 20 + run.commits.index(commit)


def test_one_lock_for_all_races_taken_after_the_key_is_told_apart(run: Run) -> None:
    _many(run, works_alone=True)
    premise = run.premise(contended(at_least_share=0.5))
    assert not premise.holds
    assert "one lock serves all" in premise.measured


def test_races_that_work_side_by_side_need_no_second_proof(run: Run) -> None:
    _many(run, works_alone=False)
    premise = run.premise(contended(at_least_share=0.5))
    assert premise.holds, premise.measured


def test_claims_of_keys_side_by_side_are_no_contention_where_answers_are_recorded(run: Run) -> None:
    run.resource("r", capacity=2)
    for number, (claimed, worked) in enumerate([(1.0, 10.0), (1.5, 20.0)]):
        key = f"k{number}"
        record, answer = run.recorded(key, opened=0.5)
        run.commit(claimed, record)
        run.commit(worked, run.held(key, "r", key=key), run.counted("r", number + 1), answer)
        run.operation("hold", "r", sent=0, done=30, key=key, created=key, race=1)
    assert not run.premise(contended(at_least_share=0.5)).holds


def test_without_a_trail_nothing_is_known_of_contention(run: Run) -> None:
    race(run, 1, rivals=2, keyed=[1, 2], committed=[10, 11])
    run.not_written |= {"changes"}
    premise = run.premise(contended(at_least_share=0.5))
    assert (premise.holds, "no trail was recorded" in premise.measured) == (False, True)


def test_a_run_without_races_did_not_contend(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    assert run.premise(contended(at_least_share=0.0)).measured == "there was no race"


@pytest.mark.parametrize(("least", "holds"), [(2, True), (3, False)])
def test_in_flight_together_is_the_most_of_a_race_that_were_unanswered_at_once(
    run: Run, least: int, holds: bool
) -> None:
    for sent, done in ((1, 5), (2, 3), (3, 4)):  # the third leaves as the second is answered
        run.refused("r", sent=sent, done=done, key=f"k{sent}", race=1)
    assert run.premise(in_flight_together(at_least=least)).holds is holds


@pytest.mark.parametrize(("sent", "holds"), [(3, True), (900, False)])
def test_an_operation_that_never_ended_was_in_flight_no_longer_than_the_longest_that_did(
    run: Run, sent: float, holds: bool
) -> None:
    run.operation("hold", "r", sent=1, done=None, outcome="info", key="a", race=1)
    run.refused("r", sent=sent, done=sent + 10, key="b", race=1)
    assert run.premise(in_flight_together(at_least=2)).holds is holds


def test_where_nothing_ended_nobody_knows_how_long_anything_was_in_flight(run: Run) -> None:
    for number in range(3):
        run.operation("hold", "r", sent=1 + number, done=None, outcome="info", key=f"k{number}", race=1)
    assert not run.premise(in_flight_together(at_least=2)).holds


def test_operations_of_different_races_are_not_together(run: Run) -> None:
    run.refused("r", sent=1, done=5, key="a", race=1)
    run.refused("r", sent=1, done=5, key="b", race=2)
    assert not run.premise(in_flight_together(at_least=2)).holds


def test_a_run_without_races_is_counted_as_a_whole(run: Run) -> None:
    run.refused("r", sent=1, done=5, key="a")
    run.refused("s", sent=2, done=5, key="b")
    premise = run.premise(in_flight_together(at_least=2))
    assert (premise.holds, premise.measured) == (True, "2 at the highest, in a run without races")
