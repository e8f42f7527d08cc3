"""Whether the history holds every operation of every load process, to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.assumptions import history_complete
from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def test_a_lost_shard_convicts_nobody(run: Run) -> None:
    run.given(shards=2)
    run.resource("r", capacity=2)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=2, shard=1)
    assert run.violated() == set()
    run.operations = [operation for operation in run.operations if operation["shard"] == 0]
    verdict = run.verdict()
    unattempted = next(
        finding for finding in verdict.findings if finding.invariant == "nothing_unattempted_exists"
    )
    assert (unattempted.judgement, unattempted.count) == (Judgement.UNKNOWN, 1)
    assert "nothing from load process 1" in (unattempted.reason or "")


def test_with_a_lost_shard_nothing_is_proven(run: Run) -> None:
    run.given(shards=2)
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.refused("r", sent=4, done=5, key="k1", shard=1)
    assert run.verdict().judgement is Judgement.VALID
    run.operations = [operation for operation in run.operations if operation["shard"] == 0]
    verdict = run.verdict()
    assert verdict.judgement is Judgement.UNKNOWN
    assert any("nothing from load process 1" in reason for reason in verdict.reasons)


def test_a_gap_in_a_shard_makes_the_history_incomplete(run: Run) -> None:
    for number in range(3):
        run.refused("r", sent=number, done=5, key=f"k{number}")
    del run.operations[1]
    premise = run.premise(history_complete())
    assert (premise.holds, premise.measured) == (False, "load process 0 lacks 1 of 3 operations")


def test_a_history_that_ends_before_the_load_did_is_incomplete(run: Run) -> None:
    for number in range(3):
        run.refused("r", sent=number, done=5, key=f"k{number}")
    run.tallies[0] = 4
    premise = run.premise(history_complete())
    assert (premise.holds, premise.measured) == (False, "load process 0 counted 4 operations and left 3")


def test_a_load_process_that_counted_nothing_vouches_for_nothing(run: Run) -> None:
    run.refused("r", sent=1, done=5, key="k")
    run.not_written.add("samples")
    premise = run.premise(history_complete())
    assert premise.measured == "load process 0 never said how many operations there were"


def test_a_shard_that_was_gathered_twice_makes_the_history_incomplete(run: Run) -> None:
    run.refused("r", sent=1, done=5, key="k")
    run.operations.append(dict(run.operations[0]))
    assert run.premise(history_complete()).measured == "load process 0 has 1 operations twice"
