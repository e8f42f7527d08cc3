"""Close, resize, change the policy, limit the owners: what administrators decide, and what becomes of what is under way."""

from __future__ import annotations

import asyncio
from typing import Any

from service.reservation.sweeper import Sweeper
from tests.integration.reservation.deeds import counted, held, joined, told


async def test_closing_sends_who_waits_away_and_lets_the_rest_end_without_promotion(service: Any) -> None:
    room = await service.resource(2)
    kept, given_up = await held(service, room), await held(service, room)
    entry = await joined(service, room, "bob")
    alice, admin = service.person("alice"), service.admin

    closed = await admin.post(f"/api/resources/{room}/close")

    assert (closed.status, closed.json["state"]) == (200, "CLOSED")
    row = await service.row("waitlist_entries", entry)
    assert (row["state"], row["reason"]) == ("LEFT", "CLOSED")
    assert told(await alice.post(f"/api/resources/{room}/holds", {})) == (409, "RESOURCE_CLOSED")
    assert told(await alice.post(f"/api/resources/{room}/waitlist")) == (409, "RESOURCE_CLOSED")
    assert (await alice.post(f"/api/holds/{kept}/confirm", {})).status == 201
    assert (await alice.post(f"/api/holds/{given_up}/cancel", {})).status == 200
    assert await counted(service, room) == (1, 3)
    for command in ("close", "resize", "policy"):
        body = {"capacity": 9} if command == "resize" else {}
        assert told(await admin.post(f"/api/resources/{room}/{command}", body)) == (
            409,
            "RESOURCE_CLOSED",
        )


async def test_new_seats_go_to_who_waits_first_and_the_count_follows(service: Any) -> None:
    room = await service.resource(1)
    await held(service, room)
    entries = [await joined(service, room, f"waiter-{n}") for n in range(3)]

    grown = await service.admin.post(f"/api/resources/{room}/resize", {"capacity": 3})

    assert (grown.json["capacity"], grown.json["occupiedCount"], grown.json["revision"]) == (3, 3, 2)
    states = [(await service.row("waitlist_entries", entry))["state"] for entry in entries]
    assert states == ["OFFERED", "OFFERED", "WAITING"]
    shrunk = await service.admin.post(f"/api/resources/{room}/resize", {"capacity": 2})
    assert told(shrunk) == (409, "CAPACITY_BELOW_OCCUPIED")
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
    assert {told(answer) for answer in answers if answer.status != 201} == {(409, "OWNER_LIMIT_REACHED")}
    assert await counted(service, room) == (2, 2)
    await held(service, room, owner="bob", quantity=2)


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
        assert told(full) == (409, "CAPACITY_EXHAUSTED")


async def test_a_place_in_the_line_counts_against_the_limit(service: Any) -> None:
    room = await service.resource(1, perOwnerLimit=1)
    await held(service, room)
    await joined(service, room, "bob")
    again = await service.person("bob").post(f"/api/resources/{room}/waitlist")
    assert told(again) == (409, "OWNER_LIMIT_REACHED")


async def test_a_limit_set_while_a_hold_waits_for_its_lock_is_kept(
    service: Any, sessions: Any, until: Any
) -> None:
    """The plain path began before the limit was there: it leaves its key to the path that counts."""
    room = await service.resource(9)
    await held(service, room)
    admin = await sessions.open()
    async with admin.transaction():
        await admin.execute("UPDATE resources SET per_owner_limit = 1 WHERE id = $1", room)
        waiting = asyncio.ensure_future(service.person("alice").post(f"/api/resources/{room}/holds", {}))
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: service.sql.fetchval(waits), "the hold's wait")
    assert told(await waiting) == (409, "OWNER_LIMIT_REACHED")
    assert await counted(service, room) == (1, 1)


async def test_a_hold_of_an_older_policy_still_expires_and_a_closed_room_promotes_nobody(
    service: Any,
) -> None:
    room = await service.resource(1)
    hold = await held(service, room)
    await service.admin.post(f"/api/resources/{room}/policy", {"holdSeconds": 30})
    await joined(service, room, "bob")
    await service.admin.post(f"/api/resources/{room}/close")
    await service.sql.execute("UPDATE holds SET expires_at = clock_timestamp()")

    sweep = await Sweeper(service.pool, service.settings, "node-a").run_once()

    assert [(one.expired_holds, one.promoted_entries) for one in sweep.summaries] == [(1, 0)]
    assert (await service.row("holds", hold))["state"] == "EXPIRED"
    assert await service.sql.fetchval("SELECT count(*) FROM offers") == 0
    assert await counted(service, room) == (0, 2)
