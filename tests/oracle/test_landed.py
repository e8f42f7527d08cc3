"""A fault counts where it was proven to have landed while somebody was there, was healed, and left things well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import landed

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def one_sale(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)


def test_landed_wants_every_fault_of_the_name_proven_and_healed(run: Run) -> None:
    one_sale(run)
    run.fault("redis", landed=1)
    assert run.premise(landed("redis")).holds
    run.fault("redis", landed=None, error="the proxy refused")
    premise = run.premise(landed("redis"))
    assert (premise.holds, premise.measured) == (False, "redis: 1 of 2 landed (the proxy refused)")


def test_landed_finds_a_fault_by_its_place_too(run: Run) -> None:
    one_sale(run)
    run.fault("outage", landed=1)
    assert run.premise(landed("redis-a")).holds


def test_a_fault_that_never_was_did_not_land(run: Run) -> None:
    assert not run.premise(landed("redis")).holds


def test_a_fault_that_was_not_healed_does_not_count(run: Run) -> None:
    one_sale(run)
    run.fault("redis", landed=1, healed=None)
    premise = run.premise(landed("redis"))
    assert (premise.holds, premise.measured) == (False, "redis: 1 of 1 landed, 1 not healed")


@pytest.mark.parametrize(
    ("landed_at", "healed_at", "holds"), [(4, 9, False), (0, 0.5, False), (0.5, 1.5, True)]
)
def test_a_fault_that_came_when_nobody_was_there_does_not_count(
    run: Run, landed_at: float, healed_at: float, holds: bool
) -> None:
    one_sale(run)  # from 1 to 3
    run.fault("redis", landed=landed_at, healed=healed_at)
    premise = run.premise(landed("redis"))
    assert (premise.holds, "while no operation was under way" in premise.measured) == (holds, not holds)


@pytest.mark.parametrize(
    ("injected", "healed", "holds"), [(150, 350, False), (50, 350, True), (150, 450, True), (150, 240, True)]
)
def test_a_fault_that_fell_into_a_gap_of_the_load_does_not_count_unless_it_was_over_at_once(
    run: Run, injected: float, healed: float, holds: bool
) -> None:
    for sent in (10, 400):
        run.refused("r", sent=sent, done=sent + 100, key=f"k{sent}")
    run.fault("redis", injected=injected, landed=injected + 10, healed=healed)
    premise = run.premise(landed("redis"))
    assert (premise.holds, "while no operation was under way" in premise.measured) == (holds, not holds)


@pytest.mark.parametrize("about", [{"sent": 10, "done": None}, {"sent": None, "intended": 200, "done": 201}])
def test_whoever_never_had_an_answer_or_never_left_met_the_fault(
    run: Run, about: dict[str, float | None]
) -> None:
    run.refused("r", sent=10, done=20, key="k10")
    run.refused("r", sent=400, done=500, key="k400")
    run.operation("hold", "r", outcome="info", key="lost", **about)  # type: ignore[arg-type]  # as told above
    run.fault("redis", landed=150, healed=350)
    assert run.premise(landed("redis")).holds


def test_a_fault_after_which_things_were_not_well_again_does_not_count(run: Run) -> None:
    one_sale(run)
    run.fault("redis", landed=1, error="not well after healing: no answer")
    premise = run.premise(landed("redis"))
    assert (premise.holds, premise.measured) == (
        False,
        "redis: 1 of 1 landed (not well after healing: no answer)",
    )


def test_a_fault_whose_proof_came_late_was_there_from_its_injection(run: Run) -> None:
    one_sale(run)
    run.fault("redis", injected=2, landed=4)
    assert run.premise(landed("redis")).holds
