"""What stands in the way for a while: another's key, too many at once, a database that is slow, away or cut off."""

from __future__ import annotations

import asyncio
from typing import Any

from service.reservation import resources
from tests.integration.reservation.refusals.stage import WAITING, Scene, Shot, hold_of, scene


@scene("IDEMPOTENCY_FINGERPRINT_CONFLICT")
async def _(s: Scene) -> Shot:
    await s.bob.post(f"/api/resources/{s.room}/holds", {}, key="the-shot")
    return hold_of(s)


@scene("IDEMPOTENCY_IN_PROGRESS")
async def _(s: Scene) -> Shot:
    hold = await s.hold()
    shot = Shot(by=s.alice, path=f"/api/holds/{hold}/confirm")
    await s.lock_the_room()
    s.pending.append(asyncio.ensure_future(shot.fire()))
    await s.somebody_waits()
    return shot


@scene("ADMISSION_REFUSED")
async def _(s: Scene) -> Shot:
    return await s.behind_another(bulkhead_permits=1)


@scene("POOL_EXHAUSTED")
async def _(s: Scene) -> Shot:
    return await s.behind_another(pool_connections_min=1, pool_connections_max=1, pool_acquire_ms=100)


@scene("DATABASE_UNAVAILABLE")
async def _(s: Scene) -> Shot:
    lonely = await s.start(database_url="postgresql://nobody@127.0.0.1:1/nothing")
    return Shot(by=lonely.person("alice"), path=f"/api/resources/{s.room}/holds")


@scene("DATABASE_BUSY")
async def _(s: Scene) -> Shot:
    impatient = await s.start(lock_timeout_ms=100)
    await s.lock_the_room()
    return Shot(by=impatient.person("alice"), path=f"/api/resources/{s.room}/holds")


@scene("DEADLINE_PASSED")
async def _(s: Scene) -> Shot:
    """A Redis that says nothing takes the whole time, so that none is left to ask the database."""
    silent = f"redis://127.0.0.1:{s.silent_port}"
    hurried = await s.start(redis_url=silent, redis_timeout_ms=6_000, command_deadline_ms=300)
    return Shot(by=hurried.person("alice"), path=f"/api/resources/{s.room}/holds")


@scene("OUTCOME_UNKNOWN")
async def _(s: Scene) -> Shot:
    """The server ends the session that decides: its last word could have been a commit's, for all the node knows."""
    await s.lock_the_room()

    async def end_the_session() -> None:
        await s.somebody_waits()
        await s.service.sql.fetchval(f"SELECT pg_terminate_backend(pid) FROM ({WAITING}) AS waiting")

    return Shot(by=s.alice, path=f"/api/resources/{s.room}/holds", meanwhile=end_the_session)


@scene("INTERNAL_ERROR")
async def _(s: Scene) -> Shot:
    async def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    s.monkeypatch.setattr(resources, "find", fail)
    return Shot(by=s.alice, method="GET", path=f"/api/resources/{s.room}", body=b"")
