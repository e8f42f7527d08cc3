"""멱등 리스가 끝나기 전에는 다른 소유자가 실행하지 못한다: no other worker before the lease is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from service.reservation import idempotency
from service.reservation.idempotency import (
    Answer,
    FingerprintConflict,
    InProgress,
    New,
    Replay,
    Scope,
    Takeover,
)

T0 = datetime(2026, 7, 20, 12, tzinfo=UTC)
LEASE = timedelta(seconds=90)
SCOPE = Scope(tenant="demo", operation="hold.confirm", key="hold-42")


async def test_a_claim_passes_on_only_after_its_lease_and_a_stale_owner_stores_nothing(sql: Any) -> None:
    async def acquire(owner: str, *, after: int, fingerprint: str = "print") -> Any:
        at = T0 + timedelta(seconds=after)
        return await idempotency.acquire(sql, SCOPE, fingerprint, owner, lease=LEASE, at=at)

    record = await acquire("ownerA", after=0)
    assert isinstance(record, New) is True

    before_expiry = await acquire("ownerB", after=30)
    assert before_expiry == InProgress(remaining_lease=timedelta(seconds=60))
    assert await acquire("ownerB", after=30, fingerprint="another") == FingerprintConflict()

    after_expiry = await acquire("ownerB", after=91)
    assert isinstance(after_expiry, Takeover) is True
    assert after_expiry.owner_token == "ownerB"

    assert await idempotency.finalize(sql, record.record, "ownerA", Answer(201, "stale")) is False
    assert await idempotency.finalize(sql, record.record, "ownerB", Answer(201, "fresh")) is True

    replay = await acquire("ownerC", after=92)
    assert replay == Replay(status=201, body="fresh")


async def test_a_settled_key_is_replayed_however_long_ago_its_lease_ended(sql: Any) -> None:
    record = await idempotency.acquire(sql, SCOPE, "print", "ownerA", lease=LEASE, at=T0)
    await idempotency.finalize(sql, record.record, "ownerA", Answer(201, "fresh"))

    late = await idempotency.acquire(sql, SCOPE, "print", "ownerB", lease=LEASE, at=T0 + timedelta(days=400))

    assert late == Replay(status=201, body="fresh")
