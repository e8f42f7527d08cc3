"""The rules alone: in what order a refusal is found, and how long a delivery rests."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.errors import REFUSALS
from service.reservation import rules
from service.reservation.rules import Action

NOW = datetime(2026, 7, 20, 12, tzinfo=UTC)
ALICE = Action(tenant="demo", owner_digest="alice", id=1)
HOLD = {
    "owner_digest": "alice", "state": "ACTIVE", "revision": 0, "policy_version": 1, "at": NOW,
    "expires_at": NOW + timedelta(microseconds=1),
}  # fmt: skip


def _code(hold: dict[str, Any], action: Action = ALICE) -> str | None:
    refusal = rules.hold_refusal(hold, action, policy_version=1)
    return None if refusal is None else refusal.code


def test_a_hold_is_its_owners_until_the_instant_at_which_it_expires() -> None:
    assert _code(HOLD) is None
    assert _code(HOLD | {"expires_at": NOW}) == "HOLD_EXPIRED"


def test_whose_it_is_comes_before_everything_else() -> None:
    wrong = HOLD | {"state": "CANCELLED", "revision": 9, "policy_version": 0, "expires_at": NOW}
    assert _code(wrong | {"owner_digest": "bob"}) == "OWNER_MISMATCH"
    assert _code(wrong) == "HOLD_NOT_ACTIVE"
    expecting = Action(tenant="demo", owner_digest="alice", id=1, expected_revision=0)
    assert _code(wrong | {"state": "ACTIVE"}, expecting) == "REVISION_CONFLICT"
    assert _code(wrong | {"state": "ACTIVE"}) == "POLICY_VERSION_MISMATCH"


def test_an_expected_revision_of_zero_is_one() -> None:
    expecting = Action(tenant="demo", owner_digest="alice", id=1, expected_revision=0)
    assert _code(HOLD, expecting) is None
    assert _code(HOLD | {"revision": 1}, expecting) == "REVISION_CONFLICT"


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 2), (2, 4), (3, 8), (4, 10), (50, 10)])
def test_a_delivery_rests_twice_as_long_each_time_up_to_a_limit(attempt: int, seconds: float) -> None:
    assert rules.retry_delay(attempt, initial_seconds=2, max_seconds=10) == seconds


def test_a_terminal_state_has_no_way_out() -> None:
    sources = {table: {source for source, _ in moves} for table, moves in rules.TRANSITIONS.items()}
    assert sources["holds"] == {"ACTIVE"}
    assert sources["reservations"] == {"CONFIRMED"}
    assert sources["waitlist_entries"] == {"WAITING", "OFFERED"}
    assert sources["notification_outbox"] == {"PENDING", "CLAIMED"}


def test_every_move_is_between_states_that_there_are() -> None:
    for table, moves in rules.TRANSITIONS.items():
        assert {state for move in moves for state in move} <= set(rules.STATES[table])


def test_what_is_final_is_definite_and_what_may_pass_is_not_final() -> None:
    for refusal in REFUSALS.values():
        assert refusal.definite or not refusal.final
        assert not (refusal.final and refusal.status >= 500)
    passing = (
        "ADMISSION_REFUSED",
        "DEADLINE_PASSED",
        "POOL_EXHAUSTED",
        "IDEMPOTENCY_IN_PROGRESS",
        "IDEMPOTENCY_FINGERPRINT_CONFLICT",
    )
    assert [REFUSALS[code].final for code in passing] == [False] * 5
    assert all(REFUSALS[code].definite for code in passing)
    assert {code for code, refusal in REFUSALS.items() if not refusal.definite} == {
        "OUTCOME_UNKNOWN",
        "INTERNAL_ERROR",
    }


def test_the_rules_import_nothing_that_reaches_outside() -> None:
    tree = ast.parse(Path(rules.__file__).read_text())
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= {
        "__future__", "collections.abc", "dataclasses", "datetime", "enum", "service", "service.errors", "typing"
    }  # fmt: skip
