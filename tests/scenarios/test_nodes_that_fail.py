"""A node that is killed, stopped or ended in the middle of a story leaves a verdict, whatever it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

RACE = "last_seat_race"
CASES = {
    "kill": "kill:node-b@progress=30%+1s",
    "pause": "pause:node-b@progress=30%+1s",
    "terminate": "terminate:node-b@progress=30%+1s",
}


@pytest.mark.parametrize("kind", CASES)
def test_a_race_goes_on_without_the_node_and_is_judged(kind: str, typed: Callable[..., Any]) -> None:
    ran = typed("run", RACE, "--fault", CASES[kind])
    assert ran.code in (0, 3), ran.said
    assert ran.verdict.operations == 2_000
    (landed,) = (premise for premise in ran.verdict.premises if premise.name == "landed")
    assert landed.holds, landed


@pytest.mark.parametrize("kind", ["kill", "terminate"])
def test_whoever_found_no_node_has_certainly_sent_nothing(kind: str, typed: Callable[..., Any]) -> None:
    folder = typed("run", RACE, "--fault", CASES[kind]).folder
    operations = pq.read_table(folder / "operations.parquet").to_pandas()
    unsent = operations[operations.sent_ns.isna()]
    assert len(unsent) > 0
    assert set(unsent.node) == {"b"}
    assert set(unsent.outcome) == {"fail"}
    lost = operations[operations.error.isin(["eof", "reset"]) & operations.sent_ns.notna()]
    assert set(lost.outcome) <= {"info"}, "what has left may have happened"


def test_a_fault_that_did_not_land_makes_the_run_inconclusive_and_is_named(typed: Callable[..., Any]) -> None:
    fault = "crash_at:node-a=service.reservation.outbox:mark_delivered"  # no node delivers
    ran = typed("run", RACE, "--fault", fault)
    assert ran.code == 3, ran.said
    assert "landed does not hold" in ran.said
    assert f"{fault}: 0 of 1 landed (not proven: nobody has come to" in " ".join(ran.verdict.reasons)
