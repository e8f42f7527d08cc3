"""The seam to the target: requests worded exactly, answers judged by rule and never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from checker.canonical import CREATES, TABLES
from scenarios import registry
from scenarios.habit import habits
from scenarios.journal import Outcome
from scenarios.scenario import Sale
from scenarios.targets import builtin
from scenarios.targets.outcome import Classifier
from scenarios.targets.target import Action, Node, Rule, TargetError
from scenarios.targets.wording import Wording
from service.errors import REFUSALS
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

NODE = Node(label="a", host="127.0.0.1", port=8080)
VALUES = {"token": "t.o.k", "key": "run-1-1", "resource": 7, "revision": 42, "hold": 9}


def worded(action: str, **values: str | int) -> bytes:
    return Wording(builtin.ACTIONS[action], NODE).word({**VALUES, **values}).wire


@pytest.mark.parametrize("name", registry.names())
def test_a_node_answers_before_its_buyers_stop_waiting(name: str) -> None:
    scenario = registry.find(name)
    given = {**builtin.Builtin().environment(scenario.sale), **scenario.settings}
    settings = Settings.from_env({"RESERVATION_DATABASE_URL": "postgresql://", **given})
    assert settings.command_deadline_ms / 1_000 < scenario.crowd.deadline_seconds


def test_a_hold_is_worded_as_the_service_reads_it() -> None:
    assert worded("hold") == (
        b"POST /api/resources/7/holds HTTP/1.1\r\n"
        b"Host: 127.0.0.1:8080\r\n"
        b"Authorization: Bearer t.o.k\r\n"
        b"Idempotency-Key: run-1-1\r\n"
        b"Content-Type: application/json\r\n"
        b"Content-Length: 2\r\n"
        b"\r\n"
        b"{}"
    )


def test_a_slot_that_stands_alone_in_a_body_keeps_its_type() -> None:
    assert worded("hold_at_revision").endswith(
        b'\r\nContent-Length: 31\r\n\r\n{"expectedResourceRevision":42}'
    )


def test_a_read_carries_no_body_and_no_length() -> None:
    assert worded("read_resource").endswith(b"Authorization: Bearer t.o.k\r\n\r\n")


def test_a_value_cannot_leave_its_place_in_the_path() -> None:
    assert worded("confirm", hold="9/../8 x").startswith(
        b"POST /api/holds/9%2F..%2F8%20x/confirm HTTP/1.1\r\n"
    )


def test_a_value_cannot_add_a_header() -> None:
    with pytest.raises(TargetError, match="line break"):
        worded("hold", key="k\r\nX-Admin: yes")


def test_a_text_in_a_body_is_escaped() -> None:
    action = Action(kind="x", method="POST", path="/", body={"who": "${key}", "n": 1, "none": None})
    body = Wording(action, NODE).word({"key": 'a"b'}).body
    assert msgspec.json.decode(body) == {"who": 'a"b', "n": 1, "none": None}


def test_a_slot_mixed_with_text_in_a_body_is_refused() -> None:
    with pytest.raises(TargetError, match="stands alone"):
        Wording(Action(kind="x", method="POST", path="/", body={"who": "seat ${key}"}), NODE)


def test_a_slot_that_nothing_fills_is_named() -> None:
    with pytest.raises(TargetError, match="resource"):
        Wording(builtin.ACTIONS["hold"], NODE).word({"token": "t", "key": "k"})


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_every_refusal_of_the_service_is_judged_as_its_table_says(refusal: object) -> None:
    code, status, definite = refusal.code, refusal.status, refusal.definite  # type: ignore[attr-defined]  # a row of the service's table
    judged = Classifier(builtin.ACTIONS["hold"].rules).judge(status, code)
    expected = Outcome.FAIL if definite else Outcome.INFO
    if code in ADMINISTRATIVE:
        expected = None  # no buyer can meet it: if one does, the run must stop
    assert judged is expected


ADMINISTRATIVE = {"RESOURCE_CODE_TAKEN", "CAPACITY_BELOW_OCCUPIED"}


@pytest.mark.parametrize(
    ("status", "code"), [(409, "SOMETHING_NEW"), (409, None), (200, None), (302, None), (418, "TEA")]
)
def test_an_answer_that_no_rule_knows_is_never_counted_as_refused(status: int, code: str | None) -> None:
    assert Classifier(builtin.ACTIONS["hold"].rules).judge(status, code) is None


def test_the_code_of_a_resource_is_no_refusal() -> None:
    judge = Classifier(builtin.ACTIONS["read_resource"].rules).judge
    assert judge(200, "opening-night-1") is Outcome.OK
    assert judge(404, "RESOURCE_NOT_FOUND") is Outcome.FAIL
    assert judge(503, "POOL_EXHAUSTED") is Outcome.FAIL
    assert judge(503, None) is Outcome.INFO


def test_a_success_that_carries_a_refusal_code_is_no_success() -> None:
    assert Classifier(builtin.ACTIONS["hold"].rules).judge(201, "CAPACITY_EXHAUSTED") is None


@pytest.mark.parametrize(("status", "code"), [(500, None), (502, None), (503, "NEVER_HEARD_OF")])
def test_a_server_error_that_does_not_say_it_had_no_effect_stays_unknown(
    status: int, code: str | None
) -> None:
    assert Classifier(builtin.ACTIONS["hold"].rules).judge(status, code) is Outcome.INFO


def test_rules_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(TargetError, match="disagree"):
        Classifier([Rule(said="ok", status=200), Rule(said="fail", status=200)])


def test_the_built_in_tables_are_canonical_and_name_what_the_actions_create() -> None:
    for name, table in builtin.TABLES.items():
        assert set(table.columns) <= set(TABLES[name])
    kinds = {action.kind for action in builtin.ACTIONS.values()}
    assert set(CREATES) <= kinds
    assert set(CREATES.values()) <= set(builtin.TABLES)


def test_every_habit_opens_with_something_the_built_in_target_offers() -> None:
    assert {habit.opening for habit in habits().values()} <= set(builtin.ACTIONS)


@pytest.mark.parametrize("lease_seconds", [None, 0.5, 2.0, 20.0])
def test_the_service_accepts_its_times_however_they_are_scaled(lease_seconds: float | None) -> None:
    sale = Sale(resources=1, capacity=1, hold_seconds=0.5, offer_seconds=0.25, lease_seconds=lease_seconds)
    environment = {"RESERVATION_DATABASE_URL": "postgresql://x", **builtin.Builtin().environment(sale)}
    settings = Settings.from_env(environment)
    assert (settings.hold_seconds, settings.offer_seconds) == (0.5, 0.25)
    assert settings.sweep_tick_seconds < 1
    assert settings.leader_lease_seconds == (lease_seconds or 15.0)
    assert settings.transaction_timeout_ms < 1_000 * settings.leader_lease_seconds


def limits(settings: Mapping[str, str]) -> list[float]:
    tables = builtin.Builtin().tables_under(settings)
    return [
        int(tables["idempotency_records"].columns["claim_us_max"].strip("'")) / 1e6,
        *(
            int(tables[table].columns[limit].strip("'"))
            for table, limit in (
                ("outbox", "attempts_max"),
                ("leader_leases", "resources_max"),
                ("leader_leases", "rows_max"),
            )
        ),
    ]


@pytest.mark.parametrize(
    ("lease_seconds", "own"),
    [
        (None, {}),
        (1.0, {}),
        (
            None,
            {
                "RESERVATION_IDEMPOTENCY_LEASE_SECONDS": "7.5",
                "RESERVATION_NOTIFICATION_ATTEMPTS_MAX": "3",
                "RESERVATION_SWEEP_RESOURCES_MAX": "4",
                "RESERVATION_SWEEP_ROWS_MAX": "50",
            },
        ),
    ],
    ids=["by default", "scaled to the sale", "by its settings"],
)
def test_the_limits_that_are_judged_by_are_those_that_the_service_keeps_to(
    lease_seconds: float | None, own: Mapping[str, str]
) -> None:
    sale = Sale(resources=1, capacity=1, lease_seconds=lease_seconds)
    environment = {**builtin.Builtin().environment(sale), **own}
    settings = Settings.from_env({"RESERVATION_DATABASE_URL": "postgresql://x", **environment})
    assert limits(environment) == [
        settings.idempotency_lease_seconds,
        settings.notification_attempts_max,
        settings.sweep_resources_max,
        settings.sweep_rows_max,
    ]


def test_two_targets_share_no_secret() -> None:
    sale = Sale(resources=1, capacity=1)
    first, second = builtin.Builtin().environment(sale), builtin.Builtin().environment(sale)
    for name in ("RESERVATION_TOKEN_SECRET", "RESERVATION_OWNER_SECRET"):
        assert first[name] != second[name]
        assert len(first[name]) >= 32
