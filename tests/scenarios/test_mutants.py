"""The proof of the bench, as a user types it: two planted bugs, two controls, one matrix."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

BUGS = {"oversell-read-write": "last_seat_race", "wrong-acceptor": "stolen_offer"}

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]


@pytest.fixture
def proof(typed: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The command, typed once for all tests; its page goes where nobody looks for it."""
    page = tmp_path_factory.getbasetemp() / "matrix.md"
    return typed("mutants", *BUGS, "--markdown", str(page)), page


def test_each_bug_is_caught_by_name_and_no_healthy_run_alarms(proof: Any) -> None:
    ran, _ = proof
    assert ran.code == 0, ran.said
    for name, scenario in BUGS.items():
        assert re.search(
            rf"^caught {name} in={scenario} by=\w+( besides=[\w,]+)? operations=[\d,]+ runs=1/1$",
            ran.said,
            re.MULTILINE,
        )
    assert (
        "2 of 2 planted bugs caught by the invariants they name; without a bug 2 of 2 scenarios held."
        in ran.said
    )


def test_the_evidence_of_each_can_be_judged_again(proof: Any, typed: Callable[..., Any]) -> None:
    ran, _ = proof
    for folder, code in (("oversell-read-write", 1), ("last_seat_race", 0)):
        (run,) = (ran.runs / "mutants" / folder).iterdir()
        again = typed("check", str(run))
        assert again.code == code
        assert "agrees with the one in verdict.json" in again.said
        assert not (run / "report.html").exists()


def test_the_matrix_is_written_as_a_page(proof: Any) -> None:
    _, page = proof
    assert "| `oversell-read-write` | `last_seat_race` | `never_oversold`" in page.read_text()


def test_a_name_that_is_none_is_a_mistake_of_whoever_typed_it(typed: Callable[..., Any]) -> None:
    ran = typed("mutants", "no-such-bug")
    assert ran.code == 2
    assert "There is no planted bug 'no-such-bug'." in ran.said
