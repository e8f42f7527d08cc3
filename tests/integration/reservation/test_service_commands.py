"""Confirm, cancel, wait, accept, decline: what owners do with what is theirs, each rule in one place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integration.reservation.deeds import counted, held, joined, offered, told

HOLD_ACTIONS = ("confirm", "cancel")
OFFER_ACTIONS = ("accept", "decline")


async def test_a_confirmed_hold_is_a_reservation_of_the_same_seats(service: Any) -> None:
    room = await service.resource(5)
    hold = await held(service, room, quantity=3)

    confirmed = await service.person("alice").post(f"/api/holds/{hold}/confirm", {"expectedRevision": 0})

    assert confirmed.status == 201
    assert (confirmed.json["holdId"], confirmed.json["quantity"], confirmed.json["state"]) == (
        hold,
        3,
        "CONFIRMED",
    )
    assert await counted(service, room) == (3, 1)
    shown = await service.person("alice").get(f"/api/reservations/{confirmed.json['id']}")
    assert shown.body == confirmed.body


async def test_a_cancelled_reservation_hands_its_seats_over_like_a_hold(service: Any) -> None:
    room = await service.resource(2)
    hold = await held(service, room, quantity=2)
    alice = service.person("alice")
    reservation = (await alice.post(f"/api/holds/{hold}/confirm", {})).json["id"]
    entry = await joined(service, room, "bob")

    cancelled = await alice.post(f"/api/reservations/{reservation}/cancel")

    assert (cancelled.status, cancelled.json["state"]) == (200, "CANCELLED")
    assert (await service.row("waitlist_entries", entry))["state"] == "OFFERED"
    assert await counted(service, room) == (1, 2)  # one seat to bob, one released
    again = await alice.post(f"/api/reservations/{reservation}/cancel")
    assert told(again) == (409, "RESERVATION_NOT_CONFIRMED")


async def test_a_hold_of_three_goes_to_the_three_who_waited_longest_in_their_order(service: Any) -> None:
    room = await service.resource(3)
    hold = await held(service, room, quantity=3)
    entries = [await joined(service, room, f"waiter-{n}") for n in range(4)]

    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})

    states = [(await service.row("waitlist_entries", entry))["state"] for entry in entries]
    assert states == ["OFFERED", "OFFERED", "OFFERED", "WAITING"]
    assert await counted(service, room) == (3, 1)
    offered = await service.sql.fetch("SELECT entry_id FROM offers ORDER BY id")
    assert [row["entry_id"] for row in offered] == entries[:3]
    ids = await service.sql.fetch("SELECT delivery_id FROM notification_outbox ORDER BY id")
    assert [row["delivery_id"] for row in ids] == [f"waitlist-{entry}-offered" for entry in entries[:3]]


async def test_a_declined_offer_goes_on_and_the_last_is_released(service: Any) -> None:
    room = await service.resource(1)
    offer = await offered(service, room)
    carol = await joined(service, room, "carol")

    declined = await service.person("bob").post(f"/api/offers/{offer}/decline", {"expectedRevision": 0})
    assert (declined.status, declined.json["state"]) == (200, "DECLINED")
    assert await counted(service, room) == (1, 1)

    next_offer = (await service.person("carol").get(f"/api/waitlist/{carol}")).json["offerId"]
    await service.person("carol").post(f"/api/offers/{next_offer}/decline", {})
    assert await counted(service, room) == (0, 2)


@pytest.mark.parametrize("action", HOLD_ACTIONS)
async def test_a_hold_obeys_only_its_owner_its_state_its_revision_its_policy_and_its_time(
    service: Any, action: str
) -> None:
    room = await service.resource(9)
    alice, path = service.person("alice"), "/api/holds/{}/" + action
    hold = await held(service, room)

    assert told(await service.person("bob").post(path.format(hold), {})) == (403, "OWNER_MISMATCH")
    assert told(await alice.post(path.format(hold), {"expectedRevision": 1})) == (
        409,
        "REVISION_CONFLICT",
    )
    assert (await alice.post(path.format(hold), {"expectedRevision": 0})).status in {200, 201}
    assert told(await alice.post(path.format(hold), {})) == (409, "HOLD_NOT_ACTIVE")

    late = await held(service, room)
    await service.sql.execute("UPDATE holds SET expires_at = clock_timestamp() WHERE id = $1", late)
    assert told(await alice.post(path.format(late), {})) == (409, "HOLD_EXPIRED")

    outdated = await held(service, room)
    await service.admin.post(f"/api/resources/{room}/policy", {"holdSeconds": 30})
    assert told(await alice.post(path.format(outdated), {})) == (409, "POLICY_VERSION_MISMATCH")
    assert (await service.row("holds", outdated))["state"] == "ACTIVE"


@pytest.mark.parametrize("action", OFFER_ACTIONS)
async def test_an_offer_obeys_only_its_owner_its_revision_its_time_and_its_state(
    service: Any, action: str
) -> None:
    room = await service.resource(1)
    offer = await offered(service, room)
    bob, path = service.person("bob"), f"/api/offers/{offer}/{action}"

    assert told(await service.person("alice").post(path, {})) == (403, "OWNER_MISMATCH")
    assert told(await bob.post(path, {"expectedRevision": 1})) == (409, "REVISION_CONFLICT")
    expires_at = (await service.row("offers", offer))["expires_at"]
    await service.sql.execute("UPDATE offers SET expires_at = clock_timestamp() WHERE id = $1", offer)
    assert told(await bob.post(path, {})) == (409, "OFFER_EXPIRED")
    await service.sql.execute("UPDATE offers SET expires_at = $2 WHERE id = $1", offer, expires_at)
    assert (await bob.post(path, {})).status in {200, 201}
    assert told(await bob.post(path, {})) == (409, "OFFER_NOT_ACTIVE")


async def test_nobody_waits_while_a_seat_is_free(service: Any) -> None:
    room = await service.resource(1)
    answer = await service.person("alice").post(f"/api/resources/{room}/waitlist")
    assert told(answer) == (409, "SEATS_AVAILABLE")


async def test_who_leaves_the_line_is_passed_over(service: Any) -> None:
    room = await service.resource(1)
    hold = await held(service, room)
    bob, carol = await joined(service, room, "bob"), await joined(service, room, "carol")

    assert told(await service.person("carol").post(f"/api/waitlist/{bob}/leave")) == (
        403,
        "OWNER_MISMATCH",
    )
    left = await service.person("bob").post(f"/api/waitlist/{bob}/leave")
    assert (left.json["state"], left.json["reason"]) == ("LEFT", "LEFT")
    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})

    assert (await service.row("waitlist_entries", carol))["state"] == "OFFERED"
    assert told(await service.person("carol").post(f"/api/waitlist/{carol}/leave")) == (
        409,
        "ENTRY_NOT_WAITING",
    )


async def test_places_in_the_line_are_in_the_order_of_the_commits(service: Any) -> None:
    room = await service.resource(1)
    await held(service, room)
    entries = await asyncio.gather(*(joined(service, room, f"waiter-{n}") for n in range(12)))
    rows = await service.sql.fetch(
        "SELECT id, seq FROM waitlist_entries ORDER BY pg_xact_commit_timestamp(xmin), created_at"
    )
    assert {row["id"] for row in rows} == set(entries)
    assert [row["seq"] for row in rows] == sorted(row["seq"] for row in rows)
