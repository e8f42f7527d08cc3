"""Confirm, cancel, wait, accept, decline, close, resize, change the policy: each rule in one place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.reservation.sweeper import Sweeper

HOLD_ACTIONS = ("confirm", "cancel")
OFFER_ACTIONS = ("accept", "decline")


async def _hold(service: Any, room: int, owner: str = "alice", **body: Any) -> int:
    answer = await service.person(owner).post(f"/api/resources/{room}/holds", body)
    assert answer.status == 201, answer.body
    return int(answer.json["id"])


async def _join(service: Any, room: int, owner: str) -> int:
    answer = await service.person(owner).post(f"/api/resources/{room}/waitlist")
    assert answer.status == 201, answer.body
    return int(answer.json["id"])


async def _offer(service: Any, room: int) -> int:
    """Give bob an offer of the room's only seat; return the offer."""
    hold = await _hold(service, room)
    entry = await _join(service, room, "bob")
    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})
    return int((await service.person("bob").get(f"/api/waitlist/{entry}")).json["offerId"])


async def _count(service: Any, room: int) -> tuple[int, int]:
    row = await service.row("resources", room)
    return row["occupied_count"], row["revision"]


def _refused(answer: Any) -> tuple[int, str]:
    return answer.status, answer.json.get("code")


async def test_a_confirmed_hold_is_a_reservation_of_the_same_seats(service: Any) -> None:
    room = await service.resource(5)
    hold = await _hold(service, room, quantity=3)

    confirmed = await service.person("alice").post(f"/api/holds/{hold}/confirm", {"expectedRevision": 0})

    assert confirmed.status == 201
    assert (confirmed.json["holdId"], confirmed.json["quantity"], confirmed.json["state"]) == (
        hold,
        3,
        "CONFIRMED",
    )
    assert await _count(service, room) == (3, 1)
    shown = await service.person("alice").get(f"/api/reservations/{confirmed.json['id']}")
    assert shown.body == confirmed.body


async def test_a_cancelled_reservation_hands_its_seats_over_like_a_hold(service: Any) -> None:
    room = await service.resource(2)
    hold = await _hold(service, room, quantity=2)
    alice = service.person("alice")
    reservation = (await alice.post(f"/api/holds/{hold}/confirm", {})).json["id"]
    entry = await _join(service, room, "bob")

    cancelled = await alice.post(f"/api/reservations/{reservation}/cancel")

    assert (cancelled.status, cancelled.json["state"]) == (200, "CANCELLED")
    assert (await service.row("waitlist_entries", entry))["state"] == "OFFERED"
    assert await _count(service, room) == (1, 2)  # one seat to bob, one released
    again = await alice.post(f"/api/reservations/{reservation}/cancel")
    assert _refused(again) == (409, "RESERVATION_NOT_CONFIRMED")


async def test_a_hold_of_three_goes_to_the_three_who_waited_longest_in_their_order(service: Any) -> None:
    room = await service.resource(3)
    hold = await _hold(service, room, quantity=3)
    entries = [await _join(service, room, f"waiter-{n}") for n in range(4)]

    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})

    states = [(await service.row("waitlist_entries", entry))["state"] for entry in entries]
    assert states == ["OFFERED", "OFFERED", "OFFERED", "WAITING"]
    assert await _count(service, room) == (3, 1)
    offered = await service.sql.fetch("SELECT entry_id FROM offers ORDER BY id")
    assert [row["entry_id"] for row in offered] == entries[:3]
    ids = await service.sql.fetch("SELECT delivery_id FROM notification_outbox ORDER BY id")
    assert [row["delivery_id"] for row in ids] == [f"waitlist-{entry}-offered" for entry in entries[:3]]


async def test_a_declined_offer_goes_on_and_the_last_is_released(service: Any) -> None:
    room = await service.resource(1)
    offer = await _offer(service, room)
    carol = await _join(service, room, "carol")

    declined = await service.person("bob").post(f"/api/offers/{offer}/decline", {"expectedRevision": 0})
    assert (declined.status, declined.json["state"]) == (200, "DECLINED")
    assert await _count(service, room) == (1, 1)

    next_offer = (await service.person("carol").get(f"/api/waitlist/{carol}")).json["offerId"]
    await service.person("carol").post(f"/api/offers/{next_offer}/decline", {})
    assert await _count(service, room) == (0, 2)


@pytest.mark.parametrize("action", HOLD_ACTIONS)
async def test_a_hold_obeys_only_its_owner_its_state_its_revision_its_policy_and_its_time(
    service: Any, action: str
) -> None:
    room = await service.resource(9)
    alice, path = service.person("alice"), "/api/holds/{}/" + action
    hold = await _hold(service, room)

    assert _refused(await service.person("bob").post(path.format(hold), {})) == (403, "OWNER_MISMATCH")
    assert _refused(await alice.post(path.format(hold), {"expectedRevision": 1})) == (
        409,
        "REVISION_CONFLICT",
    )
    assert (await alice.post(path.format(hold), {"expectedRevision": 0})).status in {200, 201}
    assert _refused(await alice.post(path.format(hold), {})) == (409, "HOLD_NOT_ACTIVE")

    late = await _hold(service, room)
    await service.sql.execute("UPDATE holds SET expires_at = clock_timestamp() WHERE id = $1", late)
    assert _refused(await alice.post(path.format(late), {})) == (409, "HOLD_EXPIRED")

    outdated = await _hold(service, room)
    await service.admin.post(f"/api/resources/{room}/policy", {"holdSeconds": 30})
    assert _refused(await alice.post(path.format(outdated), {})) == (409, "POLICY_VERSION_MISMATCH")
    assert (await service.row("holds", outdated))["state"] == "ACTIVE"


@pytest.mark.parametrize("action", OFFER_ACTIONS)
async def test_an_offer_obeys_only_its_owner_its_revision_its_time_and_its_state(
    service: Any, action: str
) -> None:
    room = await service.resource(1)
    offer = await _offer(service, room)
    bob, path = service.person("bob"), f"/api/offers/{offer}/{action}"

    assert _refused(await service.person("alice").post(path, {})) == (403, "OWNER_MISMATCH")
    assert _refused(await bob.post(path, {"expectedRevision": 1})) == (409, "REVISION_CONFLICT")
    expires_at = (await service.row("offers", offer))["expires_at"]
    await service.sql.execute("UPDATE offers SET expires_at = clock_timestamp() WHERE id = $1", offer)
    assert _refused(await bob.post(path, {})) == (409, "OFFER_EXPIRED")
    await service.sql.execute("UPDATE offers SET expires_at = $2 WHERE id = $1", offer, expires_at)
    assert (await bob.post(path, {})).status in {200, 201}
    assert _refused(await bob.post(path, {})) == (409, "OFFER_NOT_ACTIVE")


async def test_nobody_waits_while_a_seat_is_free(service: Any) -> None:
    room = await service.resource(1)
    answer = await service.person("alice").post(f"/api/resources/{room}/waitlist")
    assert _refused(answer) == (409, "SEATS_AVAILABLE")


async def test_who_leaves_the_line_is_passed_over(service: Any) -> None:
    room = await service.resource(1)
    hold = await _hold(service, room)
    bob, carol = await _join(service, room, "bob"), await _join(service, room, "carol")

    assert _refused(await service.person("carol").post(f"/api/waitlist/{bob}/leave")) == (
        403,
        "OWNER_MISMATCH",
    )
    left = await service.person("bob").post(f"/api/waitlist/{bob}/leave")
    assert (left.json["state"], left.json["reason"]) == ("LEFT", "LEFT")
    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})

    assert (await service.row("waitlist_entries", carol))["state"] == "OFFERED"
    assert _refused(await service.person("carol").post(f"/api/waitlist/{carol}/leave")) == (
        409,
        "ENTRY_NOT_WAITING",
    )


async def test_places_in_the_line_are_in_the_order_of_the_commits(service: Any) -> None:
    room = await service.resource(1)
    await _hold(service, room)
    entries = await asyncio.gather(*(_join(service, room, f"waiter-{n}") for n in range(12)))
    rows = await service.sql.fetch(
        "SELECT id, seq FROM waitlist_entries ORDER BY pg_xact_commit_timestamp(xmin), created_at"
    )
    assert {row["id"] for row in rows} == set(entries)
    assert [row["seq"] for row in rows] == sorted(row["seq"] for row in rows)


async def test_closing_sends_who_waits_away_and_lets_the_rest_end_without_promotion(service: Any) -> None:
    room = await service.resource(2)
    kept, given_up = await _hold(service, room), await _hold(service, room)
    entry = await _join(service, room, "bob")
    alice, admin = service.person("alice"), service.admin

    closed = await admin.post(f"/api/resources/{room}/close")

    assert (closed.status, closed.json["state"]) == (200, "CLOSED")
    row = await service.row("waitlist_entries", entry)
    assert (row["state"], row["reason"]) == ("LEFT", "CLOSED")
    assert _refused(await alice.post(f"/api/resources/{room}/holds", {})) == (409, "RESOURCE_CLOSED")
    assert _refused(await alice.post(f"/api/resources/{room}/waitlist")) == (409, "RESOURCE_CLOSED")
    assert (await alice.post(f"/api/holds/{kept}/confirm", {})).status == 201
    assert (await alice.post(f"/api/holds/{given_up}/cancel", {})).status == 200
    assert await _count(service, room) == (1, 3)
    for command in ("close", "resize", "policy"):
        body = {"capacity": 9} if command == "resize" else {}
        assert _refused(await admin.post(f"/api/resources/{room}/{command}", body)) == (
            409,
            "RESOURCE_CLOSED",
        )


async def test_new_seats_go_to_who_waits_first_and_the_count_follows(service: Any) -> None:
    room = await service.resource(1)
    await _hold(service, room)
    entries = [await _join(service, room, f"waiter-{n}") for n in range(3)]

    grown = await service.admin.post(f"/api/resources/{room}/resize", {"capacity": 3})

    assert (grown.json["capacity"], grown.json["occupiedCount"], grown.json["revision"]) == (3, 3, 2)
    states = [(await service.row("waitlist_entries", entry))["state"] for entry in entries]
    assert states == ["OFFERED", "OFFERED", "WAITING"]
    shrunk = await service.admin.post(f"/api/resources/{room}/resize", {"capacity": 2})
    assert _refused(shrunk) == (409, "CAPACITY_BELOW_OCCUPIED")
    calm = await service.admin.post(f"/api/resources/{await service.resource(1)}/resize", {"capacity": 9})
    assert calm.json["revision"] == 0  # the count did not change


async def test_a_policy_has_versions_and_what_is_left_out_stays(service: Any) -> None:
    room = await service.resource(1, holdSeconds=60, offerSeconds=30, perOwnerLimit=2)
    path = f"/api/resources/{room}/policy"

    changed = (await service.admin.post(path, {"holdSeconds": 90})).json
    assert (changed["policyVersion"], changed["holdSeconds"], changed["offerSeconds"]) == (2, 90.0, 30.0)
    assert changed["perOwnerLimit"] == 2
    freed = (await service.admin.post(path, {"perOwnerLimit": None})).json
    assert (freed["policyVersion"], freed["perOwnerLimit"]) == (3, None)


async def test_one_owner_in_many_tabs_gets_no_more_than_the_limit(service: Any) -> None:
    room = await service.resource(50, perOwnerLimit=2)

    answers = await asyncio.gather(
        *(service.person("alice").post(f"/api/resources/{room}/holds", {}) for _ in range(12))
    )

    assert sum(answer.status == 201 for answer in answers) == 2
    assert {_refused(answer) for answer in answers if answer.status != 201} == {(409, "OWNER_LIMIT_REACHED")}
    assert await _count(service, room) == (2, 2)
    await _hold(service, room, owner="bob", quantity=2)


async def test_a_limited_hold_has_the_same_answers_as_a_plain_one(service: Any) -> None:
    plain, limited = await service.resource(1), await service.resource(1, perOwnerLimit=1)
    alice = service.person("alice")
    for room in (plain, limited):
        path = f"/api/resources/{room}/holds"
        first = await alice.post(path, {}, key=f"first-{room}")
        again = await alice.post(path, {}, key=f"first-{room}")
        assert (first.status, again.body) == (201, first.body)
        assert set(first.json) == {
            "id", "resourceId", "quantity", "state", "revision", "policyVersion", "createdAt", "expiresAt",
            "resourceRevision",
        }  # fmt: skip
        full = await service.person("bob").post(path, {})
        assert _refused(full) == (409, "CAPACITY_EXHAUSTED")


async def test_a_place_in_the_line_counts_against_the_limit(service: Any) -> None:
    room = await service.resource(1, perOwnerLimit=1)
    await _hold(service, room)
    await _join(service, room, "bob")
    again = await service.person("bob").post(f"/api/resources/{room}/waitlist")
    assert _refused(again) == (409, "OWNER_LIMIT_REACHED")


async def test_a_limit_set_while_a_hold_waits_for_its_lock_is_kept(
    service: Any, sessions: Any, until: Any
) -> None:
    """The plain path began before the limit was there: it leaves its key to the path that counts."""
    room = await service.resource(9)
    await _hold(service, room)
    admin = await sessions.open()
    async with admin.transaction():
        await admin.execute("UPDATE resources SET per_owner_limit = 1 WHERE id = $1", room)
        waiting = asyncio.ensure_future(service.person("alice").post(f"/api/resources/{room}/holds", {}))
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: service.sql.fetchval(waits), "the hold's wait")
    assert _refused(await waiting) == (409, "OWNER_LIMIT_REACHED")
    assert await _count(service, room) == (1, 1)


async def test_a_hold_of_an_older_policy_still_expires_and_a_closed_room_promotes_nobody(
    service: Any,
) -> None:
    room = await service.resource(1)
    hold = await _hold(service, room)
    await service.admin.post(f"/api/resources/{room}/policy", {"holdSeconds": 30})
    await _join(service, room, "bob")
    await service.admin.post(f"/api/resources/{room}/close")
    await service.sql.execute("UPDATE holds SET expires_at = clock_timestamp()")

    sweep = await Sweeper(service.pool, service.settings, "node-a").run_once()

    assert [(one.expired_holds, one.promoted_entries) for one in sweep.summaries] == [(1, 0)]
    assert (await service.row("holds", hold))["state"] == "EXPIRED"
    assert await service.sql.fetchval("SELECT count(*) FROM offers") == 0
    assert await _count(service, room) == (0, 2)
