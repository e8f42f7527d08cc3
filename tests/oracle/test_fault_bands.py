"""Among the lines of a witness stand the faults that were in force while it came about, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.witness import FAULTS_MAX, LINES_MAX
from tests.oracle.by_hand import tripping
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.test_witness import told, tripped

if TYPE_CHECKING:
    from checker.verdict import WitnessLine
    from tests.oracle.by_hand.plane import Plane


def bands(witness: tuple[WitnessLine, ...]) -> list[tuple[float | None, float | None, str]]:
    return [(line.at_ms, line.until_ms, line.what) for line in witness if line.fault]


def test_faults_that_were_in_force_stand_among_the_lines_and_no_others(plane: Plane) -> None:
    tripping.never_oversold(plane)  # from 1 ms to 4 ms
    plane.fault("long over", landed=-900, healed=0.5)
    plane.fault("redis cut", landed=-500, healed=1_700)
    plane.fault("a moment", landed=3, healed=3)
    plane.fault("never healed", landed=3.5, healed=None)
    plane.fault("much later", landed=5, healed=9)
    plane.fault("not injected", landed=None)
    plane.faults[-1] |= {"injected_ns": None}
    witness = plane.finding("never_oversold").witness
    assert bands(witness) == [
        (-500.0, 1_700.0, "redis cut, from -0.50 s to +1.70 s"),
        (3.0, 3.0, "a moment, at +0.00 s"),
        (3.5, None, "never healed, from +0.00 s on, never healed"),
    ]
    assert witness[0].fault == "redis cut"
    assert witness[-1].who == "in sum"
    assert [line.at_ms for line in witness] == sorted(line.at_ms or 0.0 for line in witness)


def test_of_many_faults_the_last_few_are_told_and_the_lines_stay_a_dozen(plane: Plane) -> None:
    plane.resource("r", capacity=3)
    for number in range(1, 10):
        plane.sold(
            f"h{number}", "r", sent=number, commit=number + 0.2, done=number + 0.5, count=number, key="k"
        )
        plane.fault(f"flap {number}", landed=number, healed=number + 0.5)
    witness = plane.finding("one_effect_per_key").witness
    assert [line.fault for line in witness if line.fault] == ["flap 7", "flap 8", "flap 9"][-FAULTS_MAX:]
    assert len(witness) == LINES_MAX


def test_the_fault_that_is_named_is_told_though_it_was_over(plane: Plane) -> None:
    assert bands(tripped(plane, "recovers_after_heal").witness) == [
        (10.0, 20.0, "cut, from +0.01 s to +0.02 s")
    ]


def test_what_stood_there_before_makes_no_fault_part_of_the_story(plane: Plane) -> None:
    plane.stood(plane.notice("e1", entry_id=None, attempts=5))
    plane.commit(
        500, plane.notice("e1", state="CLAIMED", attempts=6, claim="x", claimed_until=printed_at(1e6))
    )
    plane.fault("early", landed=10, healed=20)
    witness = plane.finding("attempts_are_bounded").witness
    assert told(witness)[0] == (
        0.0,
        "delivery waitlist-e1-offered",
        "is PENDING, 5 attempts, not before 0.00 ms since before the load",
    )
    assert bands(witness) == []
