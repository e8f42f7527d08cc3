"""Every invariant is tripped by a run that no other catches, and none alarms over a healthy one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.invariants import group
from checker.verdict import Judgement
from tests.oracle.by_hand import story, tripping, tripping_workers

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


@pytest.mark.parametrize("name", group("reservation"))
def test_an_invariant_is_tripped_by_a_run_that_violates_no_other(plane: Plane, name: str) -> None:
    case = getattr(tripping, name, None) or getattr(tripping_workers, name)
    case(plane)
    assert plane.violated() == {name}


def test_a_healthy_run_is_looked_at_in_every_respect_and_violates_nothing(plane: Plane) -> None:
    verdict = story.tell(plane).verdict()
    judged = {finding.invariant: (finding.judgement, finding.reason) for finding in verdict.findings}
    assert judged == dict.fromkeys(group("reservation"), (Judgement.VALID, None))
