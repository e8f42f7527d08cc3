"""A witness tells what proves a violation: in order, dated, in a dozen lines, whatever its columns are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from checker.invariants import group
from checker.judge import check
from checker.verdict import Judgement
from checker.witness import LINES_MAX
from tests.oracle.by_hand import tripping, tripping_workers
from tests.oracle.test_judge import own

if TYPE_CHECKING:
    from pathlib import Path

    from checker.verdict import Finding, WitnessLine
    from tests.oracle.by_hand.plane import Plane

SAMPLES_ALONE = ("no_immortal_keys", "no_leaked_transactions", "permits_return")
"""What they find is one number that was read once: no operation, row or commit is behind it."""
AT_REST = ("nothing_left_behind",)


def tripped(plane: Plane, name: str) -> Finding:
    case = getattr(tripping, name, None) or getattr(tripping_workers, name)
    case(plane)
    return plane.finding(name)


def told(lines: tuple[WitnessLine, ...]) -> list[tuple[float | None, str, str]]:
    return [(line.at_ms, line.who, line.what) for line in lines]


@pytest.mark.parametrize("name", group("reservation"))
def test_a_witness_is_dated_in_order_short_and_the_same_each_time(plane: Plane, name: str) -> None:
    finding = tripped(plane, name)
    instants = [line.at_ms for line in finding.witness]
    assert instants == sorted(instants, key=lambda at_ms: (at_ms is None, at_ms))
    assert len(instants) <= LINES_MAX
    assert finding.witness[-1].who == "in sum"
    assert (len(instants) == 1) == (name in SAMPLES_ALONE)
    example = finding.counter_examples[0]
    if any(column == "commit_lsn" or column.endswith("_ns") for column, value in example.items() if value):
        assert instants[-1] is not None, example
    assert (instants[-1] is None) == (name in AT_REST)
    (again,) = check(plane.folder).findings
    assert msgspec.json.encode(again.witness) == msgspec.json.encode(finding.witness)


def test_a_row_is_told_until_the_commit_that_proves_it(plane: Plane) -> None:
    tripping.nothing_expires_early(plane)
    plane.commit(30, plane.hold("h1", owner_digest="somebody else"))
    witness = plane.finding("nothing_expires_early").witness
    assert told(witness) == [
        (2.0, "hold h1", "is ACTIVE on r × 1, until 20.00 ms (xid 700)"),
        (12.0, "hold h1", "is EXPIRED on r × 1 (xid 702)"),
        (12.0, "in sum", "resource r, kind holds, id h1, hold h1, but it had 8000 µs left"),
    ]


def test_a_delivery_is_told_with_what_the_provider_was_sent(plane: Plane) -> None:
    plane.stood(plane.notice("e1", delivery="d1", entry_id=None, next_at=None))
    plane.commit(5, plane.notice("e1", delivery="d1", state="CLAIMED", attempts=1, claim="x"))
    plane.effect("d1", at=6)
    plane.effect("d1", at=9)
    plane.commit(8, plane.notice("e1", delivery="d1", state="DELIVERED"))
    assert told(plane.finding("delivered_once").witness) == [
        (0.0, "delivery d1", "is PENDING, 0 attempts since before the load"),
        (5.0, "delivery d1", "is CLAIMED, 1 attempt (xid 700)"),
        (6.0, "provider notification", "is sent d1: accepted"),
        (8.0, "delivery d1", "is DELIVERED, 1 attempt (xid 701)"),
        (9.0, "provider notification", "is sent d1: accepted"),
        (9.0, "in sum", "delivery d1, but the provider took it 2 times"),
    ]


def test_a_lease_is_told_by_who_had_it_before(plane: Plane) -> None:
    for at in (1, 2, 3, 4):
        plane.commit(at, plane.lease("a", 1, until=at + 100))
    plane.commit(5, plane.lease("b", 2, until=105))
    witness = plane.finding("one_leader_a_term").witness
    assert told(witness)[:2] == [
        (4.0, "lease sweeper", "is held by a in term 1, until 104.00 ms (xid 703)"),
        (5.0, "lease sweeper", "is held by b in term 2, until 105.00 ms (xid 704)"),
    ]


def test_who_was_passed_over_is_told_with_who_was_not(plane: Plane) -> None:
    tripping.fifo_handover(plane)
    lines = told(plane.finding("fifo_handover").witness)
    assert {who for _, who, _ in lines} >= {"entry e1", "entry e2", "in sum"}
    assert (5.0, "entry e1", "is WAITING on r, number 1 (xid 701)") in lines
    assert (11.0, "entry e2", "is OFFERED on r, number 2 (xid 703)") in lines
    assert "is told ok 201, entry e1" in {what for _, _, what in lines}


def test_an_id_is_of_one_table_only(plane: Plane) -> None:
    plane.resource("r", capacity=2)
    plane.sold("7", "r", sent=1, commit=2, done=3, count=1)
    plane.stood(plane.offer("7", "e1"))
    plane.commit(5, plane.hold("7", state="CANCELLED"), plane.counted("r", 0))
    witness = plane.finding("only_the_owner_acts").witness
    assert [line.who for line in witness] == ["hold 7", "hold 7", "in sum"]
    assert witness[-1].at_ms == 5.0


def test_a_commit_that_names_nothing_else_is_told_by_its_rows(plane: Plane) -> None:
    tripping_workers.sweeps_are_bounded(plane)
    lines = told(plane.finding("sweeps_are_bounded").witness)
    assert lines[:2] == [
        (12.0, "hold h0", "is EXPIRED on r × 1 (xid 703)"),
        (12.0, "hold h1", "is EXPIRED on s × 1 (xid 703)"),
    ]
    assert lines[-1][0] == 12.0


def test_one_who_has_too_much_is_told_by_what_they_have(plane: Plane) -> None:
    tripping_workers.limits_hold(plane)
    plane.sold("other", "r", sent=6, commit=7, done=8, count=3)
    plane.rows["holds", "other"]["owner_digest"] = "another"
    lines = told(plane.finding("limits_hold").witness)
    assert {who for _, who, _ in lines} == {"hold h0", "hold h1", "in sum"}


def test_what_names_no_commit_is_told_at_rest_after_what_led_there(plane: Plane, tmp_path: Path) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    assert told(ours(plane, tmp_path, "'r' AS resource, 4 AS occupied")) == [
        (1.0, "buyer-0 (op 0)", "sends hold on #r to node a"),
        (2.0, "commit (xid 700)", "+1 → 1 of 5 claimed, counted 1"),
        (3.0, "buyer-0 (op 0)", "is told ok 201, hold h1"),
        (None, "in sum", "resource r, occupied 4"),
    ]


def test_without_a_trail_what_others_were_told_of_the_resource_is_told(plane: Plane) -> None:
    tripping_workers.seats_linearize_without_trail(plane)
    plane.not_written |= {"base", "changes"}
    lines = told(plane.finding("seats_linearize_without_trail").witness)
    assert {who for _, who, _ in lines} == {"buyer-0 (op 0)", "buyer-1 (op 1)", "in sum"}
    assert lines[-1][0] == 4.0


def test_room_that_was_always_there_is_told_first(plane: Plane) -> None:
    lines = told(tripped(plane, "sold_out_is_true").witness)
    assert lines[0] == (0.0, "resource r", "has had room since before the load")


def test_one_who_was_never_answered_is_told_when_they_asked(plane: Plane) -> None:
    lines = told(tripped(plane, "recovers_after_heal").witness)
    assert (
        1_100.0,
        "buyer-0 (op 0)",
        "sends hold on #? to node a".replace("?", "r") + ", and never learns what became of it (timeout)",
    ) in lines
    assert lines[-1][0] == 1_100.0


ODD = [
    "'x' AS op", "true AS op", "-1 AS op", "1e300 AS op", "'nan'::DOUBLE AS op", "[1, 2] AS op", "DATE '2026-01-02' AS op",
    "'r' AS resource, 'x' AS commit_lsn", "'r' AS resource, -1 AS commit_lsn", "18446744073709551615 AS commit_lsn",
    "170141183460469231731687303715884105727 AS commit_lsn", "'inf'::DOUBLE AS commit_lsn", "1 AS other_lsn",
    "'soon' AS at_ns", "18446744073709551615 AS at_ns", "5000 AS spread_ns", "-1 AS free_since_ns, 'r' AS resource",
    "170141183460469231731687303715884105727 AS free_since_ns, 'r' AS resource", "true AS free_since_ns, 'r' AS resource",
    "7 AS resource", "['r'] AS resource", "7 AS key", "'k' AS key, 7 AS tenant", "7 AS hold", "'' AS hold", "', ' AS delivery",
    "'h1' AS id", "'h1' AS id, 'holds' AS kind", "'h1' AS id, 'nonsense' AS kind", "'h1' AS id, 7 AS kind", "'resources' AS kind",
    "1 AS waiting, 'r' AS resource", "'e' AS waiting", "7 AS owner, 'r' AS resource", "'x' AS owner, 'r' AS resource",
    "'cut' AS fault, 'x' AS healed_ns", "'cut' AS fault, 18446744073709551615 AS healed_ns", "7 AS fault", "'x' AS running_term",
    "NULL AS op, NULL AS key, NULL AS commit_lsn", "INTERVAL 1 DAY AS at_ns", "'\\x00'::BLOB AS key", "'idempotency_records' AS kind, 'k' AS id",
]  # fmt: skip


def test_no_column_of_a_users_own_keeps_a_story_from_being_told(plane: Plane, tmp_path: Path) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    plane.broken(since=10, until=20)
    plane.given(invariants=())
    for number, columns in enumerate(ODD):
        own(tmp_path / "ours", name=f"ours_{number}", counter_examples=f"SELECT {columns}")
    verdict = check(plane.write(), [tmp_path / "ours"])
    assert msgspec.json.encode(verdict)
    for columns, finding in zip(
        ODD, sorted(verdict.findings, key=lambda each: int(each.invariant[5:])), strict=True
    ):
        assert finding.judgement is Judgement.INVALID, columns
        assert finding.witness[-1].who == "in sum", columns
        assert "tell no story" not in finding.witness[-1].what, (columns, finding.witness[-1].what)


def test_columns_of_a_users_own_name_rows_by_their_roles(plane: Plane, tmp_path: Path) -> None:
    plane.resource("r", capacity=1)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    assert told(ours(plane, tmp_path, "'e1' AS entry, 5009000000 AS at_ns")) == [
        (2.0, "entry e1", "is WAITING on r, number 1 (xid 700)"),
        (9.0, "in sum", "entry e1"),
    ]


def ours(plane: Plane, tmp_path: Path, columns: str) -> tuple[WitnessLine, ...]:
    """The witness of a rule of a user's own that finds these columns."""
    plane.given(invariants=())
    (finding,) = check(plane.write(), [own(tmp_path / "ours", counter_examples=f"SELECT {columns}")]).findings
    return finding.witness
