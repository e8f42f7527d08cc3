"""만료된 자리는 다음 대기자에게 넘기거나 실제로 반환한다: an expired seat is handed over, or released for real."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from service.reservation import expiry, resources
from service.reservation.expiry import Due

if TYPE_CHECKING:
    from datetime import datetime


async def _finalize(service: Any, room: int, now: datetime) -> expiry.Summary:
    due = Due(resource=room, tenant="demo")
    return await service.pool.transaction(
        lambda connection: expiry.finalize_expired_resource(connection, due, rows=100, at=now)
    )


async def _occupied(service: Any) -> tuple[int, int, int]:
    """A room of one seat that alice holds for a minute and bob waits for."""
    room = await service.resource(1, holdSeconds=60, offerSeconds=60)
    hold = (await service.person("alice").post(f"/api/resources/{room}/holds", {})).json
    entry = (await service.person("bob").post(f"/api/resources/{room}/waitlist")).json
    return room, hold["id"], entry["id"]


async def test_an_expired_hold_goes_to_the_next_who_waits_with_one_notice(service: Any) -> None:
    room, expired_hold, bob = await _occupied(service)
    now = await resources.clock(service.sql) + timedelta(seconds=61)

    summary = await _finalize(service, room, now)

    assert summary.expired_holds == 1
    assert summary.promoted_entries == 1
    assert (await service.row("holds", expired_hold))["state"] == "EXPIRED"
    assert (await service.row("waitlist_entries", bob))["state"] == "OFFERED"
    assert (await service.row("resources", room))["occupied_count"] == 1
    notices = await service.sql.fetch("SELECT state FROM notification_outbox WHERE kind = 'offer-created'")
    assert [notice["state"] for notice in notices] == ["PENDING"]

    again = await _finalize(service, room, now)
    assert again == expiry.Summary(expired_holds=0, expired_offers=0, promoted_entries=0)
    assert await service.sql.fetchval("SELECT count(*) FROM notification_outbox") == 1


async def test_an_expired_offer_that_nobody_else_waits_for_is_released(service: Any) -> None:
    room, _, only_waiter = await _occupied(service)
    now = await resources.clock(service.sql)
    await _finalize(service, room, now + timedelta(seconds=61))
    expired_offer = await service.sql.fetchval("SELECT id FROM offers WHERE entry_id = $1", only_waiter)

    summary = await _finalize(service, room, now + timedelta(seconds=122))

    assert (await service.row("offers", expired_offer))["state"] == "EXPIRED"
    assert (await service.row("waitlist_entries", only_waiter))["state"] == "EXPIRED"
    assert summary.promoted_entries == 0
    assert (await service.row("resources", room))["occupied_count"] == 0
    assert (await service.row("resources", room))["revision"] == 2
