"""Requests that are none, or that find nothing there."""

from __future__ import annotations

from tests.integration.reservation.refusals.stage import Scene, Shot, hold_of, scene


@scene("MALFORMED_JSON")
async def _(s: Scene) -> Shot:
    return hold_of(s, b"{")


@scene("INVALID_BODY")
async def _(s: Scene) -> Shot:
    return hold_of(s, b'{"seats": 1}')


@scene("INVALID_QUERY")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, method="GET", path="/api/resources?limit=none", body=b"")


@scene("PAYLOAD_TOO_LARGE")
async def _(s: Scene) -> Shot:
    return hold_of(s, b" " * 20_000)


@scene("IDEMPOTENCY_KEY_REQUIRED")
async def _(s: Scene) -> Shot:
    return hold_of(s, Idempotency_Key="")


@scene("IDEMPOTENCY_KEY_INVALID")
async def _(s: Scene) -> Shot:
    return hold_of(s, Idempotency_Key="two words")


@scene("UNAUTHENTICATED")
async def _(s: Scene) -> Shot:
    return hold_of(s, Authorization="Bearer nonsense")


@scene("FORBIDDEN")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path=f"/api/resources/{s.room}/close")


@scene("NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/nothing")


@scene("METHOD_NOT_ALLOWED")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, method="DELETE", path=f"/api/resources/{s.room}")


@scene("RESOURCE_NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/resources/77/holds")


@scene("HOLD_NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/holds/77/confirm")


@scene("ENTRY_NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/waitlist/77/leave")


@scene("OFFER_NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/offers/77/accept")


@scene("RESERVATION_NOT_FOUND")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, path="/api/reservations/77/cancel")


@scene("MALFORMED_REQUEST")
async def _(s: Scene) -> Shot:
    return Shot(by=s.alice, method="NO METHOD", path="/api/resources")


@scene("HEAD_TOO_LARGE")
async def _(s: Scene) -> Shot:
    return hold_of(s, X_Long="y" * 200_000)


@scene("REQUEST_INCOMPLETE")
async def _(s: Scene) -> Shot:
    """The body that is announced does not come."""
    impatient = await s.start(request_seconds=0.2)
    headers = {"Idempotency-Key": "the-shot", "Content-Length": "3"}
    return Shot(by=impatient.person("alice"), path=f"/api/resources/{s.room}/holds", headers=headers)
