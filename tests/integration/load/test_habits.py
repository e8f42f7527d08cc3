"""How buyers behave after they have arrived, told by what a box office was asked and by the history."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scenarios import line
from scenarios.arrivals import burst
from scenarios.history import gather
from scenarios.load import play

if TYPE_CHECKING:
    from collections.abc import Callable

    Stand = Any  # the fixture's class, in conftest.py
    Told = str | tuple[int, dict[str, Any]] | None

CONFLICT = (409, {"code": "IDEMPOTENCY_FINGERPRINT_CONFLICT", "message": ""})
FULL = (409, {"code": "CAPACITY_EXHAUSTED", "message": ""})
NOT_YOURS = (403, {"code": "OWNER_MISMATCH", "message": ""})


async def seen(
    stand: Stand, habit: str, behave: Callable[[str, str], Told], *, buyers: int = 1
) -> list[dict[str, Any]]:
    """Let buyers of one habit play, and return their operations as they were sent."""
    stand.office.behave = behave
    plan = stand.plan(burst(buyers, within=0.01), habits={habit: 1.0}, resources=1)
    await play(plan, stand.spawn, within_seconds=30)
    return sorted(gather(stand.folder).to_pylist(), key=lambda operation: operation["sent_ns"])


def others(node: str) -> str:
    return {"node-a": "node-b", "node-b": "node-a"}[node]


async def test_a_retrier_asks_again_at_the_other_node_under_the_same_key(stand: Stand) -> None:
    asked: Counter[str] = Counter()

    def lose_two_replies(path: str, key: str) -> Told:
        asked[key] += 1
        if path.endswith("/confirm"):
            return (201, {"id": 9})
        return "eof" if asked[key] <= 2 else (201, {"id": 7})

    operations = await seen(stand, "retrier", lose_two_replies)
    holds = [each for each in operations if each["kind"] == "hold" and each["quantity"] == 1]
    assert [each["outcome"] for each in holds] == ["info", "info", "ok"]
    assert [each["attempt"] for each in holds] == [1, 2, 3]
    assert len({each["key"] for each in holds}) == len({each["request_digest"] for each in holds}) == 1
    assert [each["node"] for each in holds[1:]] == [others(each["node"]) for each in holds[:2]]


async def test_a_retrier_is_done_once_a_refusal_is_told_from_memory(stand: Stand) -> None:
    operations = await seen(stand, "retrier", lambda _path, _key: FULL)
    assert [each["replayed"] for each in operations] == [False, True]


async def test_some_retriers_reuse_the_key_for_another_wish(stand: Stand) -> None:
    asked: Counter[str] = Counter()

    def refuse_the_second_use(path: str, key: str) -> Told:
        asked[key] += 1
        if path.endswith("/confirm"):
            return (201, {"id": 9})
        return CONFLICT if asked[key] > 1 else (201, {"id": 7})

    operations = await seen(stand, "retrier", refuse_the_second_use, buyers=20)
    reused = [each for each in operations if each["quantity"] == 2]
    assert 0 < len(reused) < 20
    first = {each["key"]: each for each in operations if each["attempt"] == 1}
    assert all(each["code"] == "IDEMPOTENCY_FINGERPRINT_CONFLICT" for each in reused)
    assert all(first[each["key"]]["request_digest"] != each["request_digest"] for each in reused)


async def test_twins_are_under_way_together_under_one_key_at_two_nodes(stand: Stand) -> None:
    stand.office.delay_seconds = 0.2

    def behave(path: str, _key: str) -> Told:
        if path.endswith("/confirm"):
            return (201, {"id": 9})
        return None if path.endswith("/holds") else (200, {"id": 0})

    operations = await seen(stand, "twin_clicker", behave)
    assert [each["kind"] for each in operations] == ["read", "hold", "hold", *3 * ["confirm"]]
    one, other = operations[1:3]
    assert one["key"] == other["key"]
    assert {one["node"], other["node"]} == {"node-a", "node-b"}
    assert {one["attempt"], other["attempt"]} == {1, 2}
    assert max(one["sent_ns"], other["sent_ns"]) < min(one["done_ns"], other["done_ns"])


async def test_a_bot_asks_for_many_seats_at_once_under_as_many_keys(stand: Stand) -> None:
    stand.office.delay_seconds = 0.2

    def behave(path: str, _key: str) -> Told:
        return None if path.endswith("/holds") else (200, {"id": 0})

    operations = await seen(stand, "bot", behave)
    *holds, disguised = [each for each in operations if each["kind"] == "hold"]
    assert len(holds) == len({each["key"] for each in holds}) == 8
    assert {each["owner"] for each in holds} == {disguised["owner"]}
    assert disguised["key"] not in {each["key"] for each in holds}
    assert max(each["sent_ns"] for each in holds) < min(each["done_ns"] for each in holds)


def line_of(looks: int) -> Callable[[str, str], Told]:
    """An office that is full, and offers a seat to who has looked so often."""
    looked = Counter[str]()

    def behave(path: str, _key: str) -> Told:
        if path.endswith("/holds"):
            return FULL
        if path.endswith("/waitlist"):
            return (201, {"id": 5})
        if path.endswith("/accept"):
            return (201, {"id": 9})
        looked[path] += 1
        return (200, {"id": 5, "offerId": 6 if looked[path] > looks else None})

    return behave


async def test_a_waiter_looks_until_a_seat_is_offered_and_takes_it(stand: Stand) -> None:
    operations = await seen(stand, "waiter", line_of(looks=3))
    kinds = [each["kind"] for each in operations]
    assert kinds == ["hold", "join_waitlist", *4 * ["read"], "accept_offer"]
    assert [each["subject"] for each in operations[2:]] == [*4 * ["5"], "6"]


async def test_a_waiter_loses_patience(stand: Stand) -> None:
    operations = await seen(stand, "waiter", line_of(looks=1_000))
    assert [each["kind"] for each in operations[:2]] == ["hold", "join_waitlist"]
    assert {each["kind"] for each in operations[2:]} == {"read"}
    assert len(operations) == 1 + line.OPERATIONS_MAX


async def test_an_impostor_is_somebody_else_than_the_owner(stand: Stand) -> None:
    def behave(path: str, _key: str) -> Told:
        return (201, {"id": 7}) if path.endswith("/holds") else NOT_YOURS

    operations = await seen(stand, "impostor", behave, buyers=5)
    by_arrival: dict[int, list[dict[str, Any]]] = {}
    for each in operations:
        by_arrival.setdefault(each["arrival"], []).append(each)
    for mine in by_arrival.values():
        hold, confirm, cancel, disguised, own = mine
        assert [each["kind"] for each in mine] == ["hold", "confirm", "cancel", "cancel", "confirm"]
        assert hold["owner"] == own["owner"] != confirm["owner"] == cancel["owner"] == disguised["owner"]
        assert {each["subject"] for each in mine[1:]} == {"7"}
        assert len({each["key"] for each in mine}) == 5
