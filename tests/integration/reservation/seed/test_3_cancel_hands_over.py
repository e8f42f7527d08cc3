"""취소된 자리는 FIFO 첫 대기자에게 바로 넘긴다: a cancelled seat goes straight to the first who waits."""

from __future__ import annotations

from typing import Any


async def test_a_cancelled_seat_goes_to_the_first_who_waits_and_is_never_free(service: Any) -> None:
    room = await service.resource(1)
    alice, bob = service.person("alice"), service.person("bob")
    alice_hold = (await alice.post(f"/api/resources/{room}/holds", {})).json
    bob_entry = (await bob.post(f"/api/resources/{room}/waitlist")).json
    assert bob_entry["state"] == "WAITING"

    cancelled = await alice.post(f"/api/holds/{alice_hold['id']}/cancel", {})
    assert cancelled.status == 200

    hold = (await alice.get(f"/api/holds/{alice_hold['id']}")).json
    entry = (await bob.get(f"/api/waitlist/{bob_entry['id']}")).json
    snapshot = (await bob.get(f"/api/resources/{room}")).json
    assert hold["state"] == "CANCELLED"
    assert entry["state"] == "OFFERED"
    assert (entry["offerId"] is not None) is True
    assert snapshot["occupiedCount"] == 1
    assert snapshot["revision"] == 1


async def test_the_whole_story_of_alice_and_bob(service: Any) -> None:
    """The seed's six steps: one winner, a replay, a place in the line, a hand-over, and an offer accepted."""
    room = await service.resource(1)
    alice, bob = service.person("alice"), service.person("bob")
    holds = f"/api/resources/{room}/holds"

    won = await alice.post(holds, {"expectedResourceRevision": 0}, key="alice-hold")
    lost = await bob.post(holds, {"expectedResourceRevision": 0}, key="bob-hold")
    again = await alice.post(holds, {"expectedResourceRevision": 0}, key="alice-hold")
    assert (won.status, lost.status, again.status) == (201, 409, 201)
    assert again.body == won.body

    entry = (await bob.post(f"/api/resources/{room}/waitlist")).json
    await alice.post(f"/api/holds/{won.json['id']}/cancel", {})
    offer_id = (await bob.get(f"/api/waitlist/{entry['id']}")).json["offerId"]
    stolen = await alice.post(f"/api/offers/{offer_id}/accept", {})
    assert (stolen.status, stolen.json["code"]) == (403, "OWNER_MISMATCH")
    stale = await bob.post(f"/api/offers/{offer_id}/accept", {"expectedRevision": 7})
    assert (stale.status, stale.json["code"]) == (409, "REVISION_CONFLICT")

    accepted = await bob.post(f"/api/offers/{offer_id}/accept", {"expectedRevision": 0})
    assert accepted.status == 201
    assert accepted.json["state"] == "CONFIRMED"
    row = await service.row("reservations", accepted.json["id"])
    assert row["owner_digest"] == (await service.row("waitlist_entries", entry["id"]))["owner_digest"]
    assert (await bob.get(f"/api/resources/{room}")).json["occupiedCount"] == 1
    assert (await bob.get(f"/api/waitlist/{entry['id']}")).json["state"] == "ACCEPTED"
