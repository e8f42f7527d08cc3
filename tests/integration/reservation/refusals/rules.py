"""Requests that the domain's rules refuse, under the lock."""

from __future__ import annotations

import json

from tests.integration.reservation.refusals.stage import Scene, Shot, hold_of, scene


@scene("CAPACITY_EXHAUSTED")
async def _(s: Scene) -> Shot:
    return hold_of(s, b'{"quantity": 2}')


@scene("RESOURCE_REVISION_CONFLICT")
async def _(s: Scene) -> Shot:
    return hold_of(s, b'{"expectedResourceRevision": 7}')


@scene("RESOURCE_CLOSED")
async def _(s: Scene) -> Shot:
    await s.command("close")
    return hold_of(s)


@scene("RESOURCE_CODE_TAKEN")
async def _(s: Scene) -> Shot:
    code = (await s.service.row("resources", s.room))["code"]
    body = json.dumps({"code": code, "capacity": 1}).encode()
    return Shot(by=s.service.admin, path="/api/resources", body=body)


@scene("CAPACITY_BELOW_OCCUPIED")
async def _(s: Scene) -> Shot:
    await s.hold()
    return Shot(by=s.service.admin, path=f"/api/resources/{s.room}/resize", body=b'{"capacity": 0}')


@scene("OWNER_LIMIT_REACHED")
async def _(s: Scene) -> Shot:
    await s.command("policy", {"perOwnerLimit": 1})
    await s.hold()
    return Shot(by=s.alice, path=f"/api/resources/{s.room}/waitlist")


@scene("OWNER_MISMATCH")
async def _(s: Scene) -> Shot:
    return Shot(by=s.bob, path=f"/api/holds/{await s.hold()}/cancel")


@scene("REVISION_CONFLICT")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path=f"/api/holds/{await s.hold()}/cancel", body=b'{"expectedRevision": 7}')


@scene("POLICY_VERSION_MISMATCH")
async def _(s: Scene) -> Shot:
    hold = await s.hold()
    await s.command("policy", {"holdSeconds": 30})
    return Shot(by=s.alice, path=f"/api/holds/{hold}/confirm")


@scene("HOLD_NOT_ACTIVE")
async def _(s: Scene) -> Shot:
    hold = await s.hold()
    await s.alice.post(f"/api/holds/{hold}/confirm")
    return Shot(by=s.alice, path=f"/api/holds/{hold}/cancel")


@scene("HOLD_EXPIRED")
async def _(s: Scene) -> Shot:
    hold = await s.hold()
    await s.service.sql.execute("UPDATE holds SET expires_at = clock_timestamp()")
    return Shot(by=s.alice, path=f"/api/holds/{hold}/confirm")


@scene("SEATS_AVAILABLE")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path=f"/api/resources/{s.room}/waitlist")


@scene("ENTRY_NOT_WAITING")
async def _(s: Scene) -> Shot:
    await s.hold()
    entry = await s.entry()
    await s.bob.post(f"/api/waitlist/{entry}/leave")
    return Shot(by=s.bob, path=f"/api/waitlist/{entry}/leave")


@scene("OFFER_NOT_ACTIVE")
async def _(s: Scene) -> Shot:
    offer = await s.offer()
    await s.bob.post(f"/api/offers/{offer}/decline")
    return Shot(by=s.bob, path=f"/api/offers/{offer}/accept")


@scene("OFFER_EXPIRED")
async def _(s: Scene) -> Shot:
    offer = await s.offer()
    await s.service.sql.execute("UPDATE offers SET expires_at = clock_timestamp()")
    return Shot(by=s.bob, path=f"/api/offers/{offer}/accept")


@scene("RESERVATION_NOT_CONFIRMED")
async def _(s: Scene) -> Shot:
    reservation = await s.reservation()
    await s.alice.post(f"/api/reservations/{reservation}/cancel")
    return Shot(by=s.alice, path=f"/api/reservations/{reservation}/cancel")
