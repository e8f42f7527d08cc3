"""A season is told to its end: a scenario that fails hides no verdict, and no failure looks like a pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.verdict import Judgement, Verdict
from lastseat.errors import ExitCode, LabError
from lastseat.season import Judged, Season, Turn
from reports.terminal import Outcome
from scenarios import registry


def _judged(judgement: Judgement) -> Judged:
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
    turn = Turn(
        scenario=registry.find("last_seat_race"), seed=1, mutant=None, command="", runs=Path("r"), filed="s"
    )
    return Judged(turn=turn, folder=Path("r"), outcome=Outcome(verdict=verdict, seconds=1.0))


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
