"""A key that somebody claimed and never answered: left to them for a while, and not for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from checker.verdict import Judgement
from scenarios.targets.builtin import Builtin
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

LEFT = "nothing_left_behind"
LEASE_MS = 90_000


def claimed(plane: Plane, *, until: float | None, answered: bool = False) -> None:
    """A seat is sold, so that there is something to look at; then a key is claimed."""
    plane.resource("r", capacity=2)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    record, answer = plane.recorded("k", kind="confirm")
    row = {**record.row, "lease": "infinity" if until is None else printed_at(until)}
    changes = (Change("idempotency_records", "I", row), answer)
    plane.commit(8, *(changes if answered else changes[:1]))


@pytest.mark.parametrize(
    ("ahead", "judgement"),
    [(-1, Judgement.VALID), (LEASE_MS, Judgement.VALID), (LEASE_MS + 1, Judgement.INVALID)],
)
def test_a_key_may_be_claimed_for_as_long_as_a_claim_may_last(
    plane: Plane, ahead: float, judgement: Judgement
) -> None:
    claimed(plane, until=plane.rest_at + ahead)
    assert plane.judged(LEFT) is judgement


def test_a_key_that_has_its_answer_is_nobodys_any_more(plane: Plane) -> None:
    claimed(plane, until=plane.rest_at + 10 * LEASE_MS, answered=True)
    assert plane.judged(LEFT) is Judgement.VALID


def test_under_a_short_lease_a_claim_may_last_no_longer_than_that(plane: Plane) -> None:
    """What the built-in target tells of a run is what its nodes were started with."""
    limit = Builtin().tables_under({"RESERVATION_IDEMPOTENCY_LEASE_SECONDS": "1.0"})["idempotency_records"]
    mapping = plane.tables["idempotency_records"]
    plane.tables["idempotency_records"] = msgspec.structs.replace(
        mapping, columns=mapping.columns | {"claim_us_max": limit.columns["claim_us_max"]}
    )
    claimed(plane, until=plane.rest_at + 60_000)
    assert plane.judged(LEFT) is Judgement.INVALID


@pytest.mark.parametrize(("answered", "judgement"), [(False, Judgement.INVALID), (True, Judgement.VALID)])
def test_a_key_that_is_claimed_for_ever_is_caught_unless_it_was_answered(
    plane: Plane, *, answered: bool, judgement: Judgement
) -> None:
    claimed(plane, until=None, answered=answered)
    assert plane.judged(LEFT) is judgement


def test_where_nobody_says_how_long_a_claim_may_last_none_lasts_too_long(plane: Plane) -> None:
    plane.unmap("idempotency_records", "claim_us_max")
    claimed(plane, until=None)
    assert plane.judged(LEFT) is Judgement.VALID
