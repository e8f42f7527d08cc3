"""A season is told to its end: a scenario that fails hides no verdict, and no failure looks like a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.verdict import Judgement, Verdict
from lastseat.docket import Judged, Season, Turn
from lastseat.errors import ExitCode, LabError
from lastseat.options import Until
from lastseat.playing import at_length, needless, turns
from lastseat.request import Request
from reports.terminal import Outcome
from scenarios import registry


def _turn(filed: str = "s") -> Turn:
    story = registry.find("last_seat_race")
    return Turn(scenario=story, seed=1, mutant=None, command="", runs=Path("r"), filed=filed)


def _judged(judgement: Judgement, filed: str = "s") -> Judged:
    verdict = Verdict(
        run="r",
        scenario="s",
        story="",
        profile="smoke",
        seed=1,
        target="t",
        command="",
        judgement=judgement,
        reasons=(),
        findings=(),
        premises=(),
        operations=0,
        changes=0,
    )
    return Judged(turn=_turn(filed), folder=Path("r"), outcome=Outcome(verdict=verdict, seconds=1.0))


@pytest.mark.parametrize(
    ("judgements", "failures", "code"),
    [
        ([Judgement.VALID], 0, ExitCode.VALID),
        ([Judgement.VALID, Judgement.UNKNOWN], 0, ExitCode.INCONCLUSIVE),
        ([Judgement.INVALID, Judgement.UNKNOWN], 0, ExitCode.VIOLATED),
        ([Judgement.VALID], 1, ExitCode.LAB_FAILED),
        ([], 1, ExitCode.LAB_FAILED),
        ([Judgement.INVALID], 1, ExitCode.VIOLATED),
        ([], 0, ExitCode.INCONCLUSIVE),
    ],
)
def test_a_violation_outranks_a_failure_and_a_failure_outranks_the_rest(
    judgements: list[Judgement], failures: int, code: ExitCode
) -> None:
    season = Season(judged=[_judged(each) for each in judgements], failed=[LabError("gone")] * failures)
    assert season.code is code


HELD, OVERSOLD, UNDECIDED = Judgement.VALID, Judgement.INVALID, Judgement.UNKNOWN


@pytest.mark.parametrize(
    ("until", "judgement", "over"),
    [
        (Until.NEVER, OVERSOLD, False),
        (Until.INVALID, OVERSOLD, True),
        (Until.INVALID, UNDECIDED, False),
        (Until.INCONCLUSIVE, UNDECIDED, True),
        (Until.INCONCLUSIVE, OVERSOLD, False),
        (Until.FAILED, OVERSOLD, True),
        (Until.FAILED, UNDECIDED, True),
        (Until.FAILED, HELD, False),
    ],
)
def test_repeats_end_with_what_they_were_to_end_with(until: Until, judgement: Judgement, over: bool) -> None:
    season = Season(judged=[_judged(HELD), _judged(judgement)])
    assert needless(until)(season, _turn()) is over
    assert not needless(until)(season, _turn("another"))


def test_a_run_that_could_not_be_played_ends_repeats_until_one_failed() -> None:
    season = Season(unplayed=[_turn()])
    assert needless(Until.FAILED)(season, _turn())
    assert not needless(Until.INVALID)(season, _turn())


def test_repeats_are_turns_of_one_seed_one_round_after_the_other() -> None:
    request = Request(names=("node_kill", "lock_order"), seed=7, runs=Path("r"), repeat=3)
    planned = turns(request)
    assert [turn.filed for turn in planned] == ["node_kill", "lock_order"] * 3
    assert {turn.seed for turn in planned} == {7}


def test_of_repeats_the_first_that_ended_so_is_told_at_length() -> None:
    ends = (HELD, OVERSOLD, OVERSOLD, UNDECIDED, UNDECIDED)
    season = Season(judged=[_judged(each) for each in ends])
    assert list(at_length(season)) == [season.judged[1], season.judged[3]]
    assert list(at_length(Season(judged=season.judged[:1]))) == season.judged[:1]
