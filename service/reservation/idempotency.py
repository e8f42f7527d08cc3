"""One key, one effect: who may carry out a command, and what a repeated one is told.

    acquire(scope, fingerprint) → New | Takeover | Replay | FingerprintConflict | InProgress

The scope is tenant + operation + key; the owner is in the fingerprint. A record without an answer is work in
progress until its lease ends; a record with one is settled for ever.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec

from service import statements

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection

SQL: Final = statements.load("service.reservation", "idempotency")
_ENCODE: Final = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command is answered: HTTP status and JSON body, as stored and replayed byte for byte."""

    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and whether it is the stored one of an earlier attempt."""

    answer: Answer
    replayed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where a key is unique: tenant and operation. The same key elsewhere is another key."""

    tenant: str
    operation: str
    key: str


@dataclass(frozen=True, slots=True)
class New:
    """The command is seen for the first time and claimed."""

    record: int
    owner_token: str


@dataclass(frozen=True, slots=True)
class Takeover:
    """The last worker's lease is over, and the claim has passed to this one."""

    record: int
    owner_token: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The command is settled; this is its answer."""

    status: int
    body: str


@dataclass(frozen=True, slots=True)
class FingerprintConflict:
    """The key belongs to another command, or to another owner's."""


@dataclass(frozen=True, slots=True)
class InProgress:
    """Another worker holds the claim for as long as `remaining_lease`."""

    remaining_lease: timedelta


Acquired = New | Takeover | Replay | FingerprintConflict | InProgress


def fingerprint(operation: str, payload: Any, owner_digest: str) -> str:
    """Return the digest of a command: operation, payload with path ids and defaults filled in, and owner."""
    return hashlib.sha256(_ENCODE([operation, payload, owner_digest])).hexdigest()


def settled(seen: Any, mark: str) -> Replay | FingerprintConflict | None:
    """Return what a known record says to a command of fingerprint `mark`, or None while it has no answer."""
    if seen["fingerprint"] != mark:
        return FingerprintConflict()
    return None if seen["status"] is None else Replay(status=seen["status"], body=seen["body"])


async def recall(connection: Connection, scope: Scope, mark: str) -> Replay | FingerprintConflict | None:
    """Return what the key's record says, or None where there is none or it has no answer yet."""
    seen = await _read(connection, scope, at=None)
    return None if seen is None else settled(seen, mark)


async def acquire(
    connection: Connection,
    scope: Scope,
    mark: str,
    token: str,
    *,
    lease: timedelta,
    at: datetime | None = None,
) -> Acquired:
    """Claim a key for `token`, in the transaction that `connection` is in; only tests give `at`."""
    fresh = await claim(connection, scope, mark, token, lease=lease, at=at)
    return fresh or await contest(connection, scope, mark, token, lease=lease, at=at)


async def claim(
    connection: Connection,
    scope: Scope,
    mark: str,
    token: str,
    *,
    lease: timedelta,
    at: datetime | None = None,
) -> New | None:
    """Claim a key that nobody has used; None where it is known."""
    record = await SQL["claim"].value(
        connection,
        tenant=scope.tenant,
        operation=scope.operation,
        key=scope.key,
        fingerprint=mark,
        token=token,
        at=at,
        lease=lease,
    )
    return None if record is None else New(record, token)


async def contest(
    connection: Connection,
    scope: Scope,
    mark: str,
    token: str,
    *,
    lease: timedelta,
    at: datetime | None = None,
) -> Acquired:
    """Say what a known key allows, and take its claim over if the last worker's lease is over."""
    seen = await _read(connection, scope, at=at)
    if (standing := _standing(seen, mark)) is not None:
        return standing
    # The last worker may be storing its answer now: wait for it, then look again in a later statement.
    await SQL["lock"].value(connection, record=seen["id"])
    seen = await _read(connection, scope, at=at)
    if (standing := _standing(seen, mark)) is not None:
        return standing
    taken = await SQL["take_over"].value(
        connection,
        record=seen["id"],
        token=token,
        seen_token=seen["owner_token"],
        seen_deadline=seen["lease_expires_at"],
        at=at,
        lease=lease,
    )
    return InProgress(lease) if taken is None else Takeover(seen["id"], token)


def _standing(seen: Any, mark: str) -> Replay | FingerprintConflict | InProgress | None:
    """Return what a known record allows, or None where its claim is there to be taken over."""
    if (answer := settled(seen, mark)) is not None:
        return answer
    return InProgress(seen["remaining"]) if seen["remaining"] > timedelta(0) else None


async def finalize(connection: Connection, record: int, token: str, answer: Answer) -> bool:
    """Store the answer if the claim still is `token`'s; False means that the whole transaction must roll back."""
    stored = await SQL["finalize"].value(
        connection, record=record, token=token, status=answer.status, body=answer.body
    )
    return stored is not None


async def _read(connection: Connection, scope: Scope, *, at: datetime | None) -> Any:
    return await SQL["recall"].row(
        connection, tenant=scope.tenant, operation=scope.operation, key=scope.key, at=at
    )
