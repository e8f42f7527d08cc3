"""Every refusal the service ever answers, as one table; nothing else is returned as an error body.

A body is `{"code", "message", "retryAfterMs"?}`. Two flags tell a client what it may conclude:

- `definite`: this attempt certainly had no effect;
- `final`: the refusal is stored under the idempotency key and replayed byte for byte (it implies definite).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One row of the table: a code, its HTTP status, a sentence for people and the two flags."""

    code: str
    status: int
    sentence: str
    definite: bool = True
    final: bool = False

    @property
    def body(self) -> str:
        """The answer's JSON body where there is nothing to add about when to retry."""
        return msgspec.json.encode({"code": self.code, "message": self.sentence}).decode()


class Refused(Exception):  # noqa: N818 - a refusal is an answer, not an error
    """The command is refused for the reason that `refusal` names."""

    def __init__(self, refusal: Refusal, *, retry_after_ms: int | None = None) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal
        self.retry_after_ms = retry_after_ms


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a refusal looks like on the wire."""

    code: str
    message: str
    retry_after_ms: int | None = None


REFUSALS: Final[dict[str, Refusal]] = {}


def _refusal(code: str, status: int, sentence: str, *, definite: bool = True, final: bool = False) -> Refusal:
    REFUSALS[code] = Refusal(code=code, status=status, sentence=sentence, definite=definite, final=final)
    return REFUSALS[code]


# What the request itself gets wrong.
MALFORMED_JSON = _refusal("MALFORMED_JSON", 400, "The body is not JSON.")
INVALID_BODY = _refusal(
    "INVALID_BODY", 422, "The body has an unknown field, a wrong type or a value out of range."
)
INVALID_QUERY = _refusal("INVALID_QUERY", 400, "A query parameter is unknown or out of range.")
PAYLOAD_TOO_LARGE = _refusal("PAYLOAD_TOO_LARGE", 413, "The body is larger than this service reads.")
MALFORMED_REQUEST = _refusal("MALFORMED_REQUEST", 400, "This is not a request of HTTP/1.1.")
HEAD_TOO_LARGE = _refusal("HEAD_TOO_LARGE", 431, "The request's head is larger than this service reads.")
REQUEST_INCOMPLETE = _refusal("REQUEST_INCOMPLETE", 408, "The request did not arrive whole and in time.")
IDEMPOTENCY_KEY_REQUIRED = _refusal(
    "IDEMPOTENCY_KEY_REQUIRED", 400, "A command needs the header Idempotency-Key."
)
IDEMPOTENCY_KEY_INVALID = _refusal(
    "IDEMPOTENCY_KEY_INVALID",
    400,
    "The Idempotency-Key is empty, too long, not printable ASCII or given twice.",
)
UNAUTHENTICATED = _refusal("UNAUTHENTICATED", 401, "The bearer token is missing, expired or not ours.")
FORBIDDEN = _refusal("FORBIDDEN", 403, "This command belongs to administrators.")
NOT_FOUND = _refusal("NOT_FOUND", 404, "There is nothing at this path.")
METHOD_NOT_ALLOWED = _refusal("METHOD_NOT_ALLOWED", 405, "This path does not take that method.")

# Not final: what is not there now may be there later.
RESOURCE_NOT_FOUND = _refusal("RESOURCE_NOT_FOUND", 404, "This tenant has no such resource.")
HOLD_NOT_FOUND = _refusal("HOLD_NOT_FOUND", 404, "This tenant has no such hold.")
ENTRY_NOT_FOUND = _refusal("ENTRY_NOT_FOUND", 404, "This tenant has no such waitlist entry.")
OFFER_NOT_FOUND = _refusal("OFFER_NOT_FOUND", 404, "This tenant has no such offer.")
RESERVATION_NOT_FOUND = _refusal("RESERVATION_NOT_FOUND", 404, "This tenant has no such reservation.")

# Idempotency: about the key, and never stored under it.
IDEMPOTENCY_FINGERPRINT_CONFLICT = _refusal(
    "IDEMPOTENCY_FINGERPRINT_CONFLICT", 409, "This Idempotency-Key was used for another command."
)
IDEMPOTENCY_IN_PROGRESS = _refusal(
    "IDEMPOTENCY_IN_PROGRESS", 409, "The same command is being carried out; ask again for its answer."
)

# The rules' own refusals: decided under the lock, stored and replayed.
CAPACITY_EXHAUSTED = _refusal(
    "CAPACITY_EXHAUSTED", 409, "Fewer seats are free than were asked for.", final=True
)
RESOURCE_REVISION_CONFLICT = _refusal(
    "RESOURCE_REVISION_CONFLICT",
    409,
    "The resource has moved on from the revision that was expected.",
    final=True,
)
RESOURCE_CLOSED = _refusal("RESOURCE_CLOSED", 409, "The resource is closed.", final=True)
RESOURCE_CODE_TAKEN = _refusal(
    "RESOURCE_CODE_TAKEN", 409, "This tenant has a resource of that code.", final=True
)
CAPACITY_BELOW_OCCUPIED = _refusal(
    "CAPACITY_BELOW_OCCUPIED", 409, "More seats are taken than the new capacity would hold.", final=True
)
OWNER_LIMIT_REACHED = _refusal(
    "OWNER_LIMIT_REACHED",
    409,
    "This owner would have more seats of the resource than one owner may.",
    final=True,
)
OWNER_MISMATCH = _refusal("OWNER_MISMATCH", 403, "This belongs to another owner.", final=True)
REVISION_CONFLICT = _refusal(
    "REVISION_CONFLICT", 409, "The row has moved on from the revision that was expected.", final=True
)
POLICY_VERSION_MISMATCH = _refusal(
    "POLICY_VERSION_MISMATCH",
    409,
    "The hold was taken under an older policy and can only expire.",
    final=True,
)
HOLD_NOT_ACTIVE = _refusal("HOLD_NOT_ACTIVE", 409, "The hold has already ended.", final=True)
HOLD_EXPIRED = _refusal("HOLD_EXPIRED", 409, "The hold's time is over.", final=True)
SEATS_AVAILABLE = _refusal("SEATS_AVAILABLE", 409, "A seat is free; hold it instead of waiting.", final=True)
ENTRY_NOT_WAITING = _refusal("ENTRY_NOT_WAITING", 409, "The entry no longer waits in the line.", final=True)
OFFER_NOT_ACTIVE = _refusal("OFFER_NOT_ACTIVE", 409, "The offer has already ended.", final=True)
OFFER_EXPIRED = _refusal("OFFER_EXPIRED", 409, "The offer's time is over.", final=True)
RESERVATION_NOT_CONFIRMED = _refusal(
    "RESERVATION_NOT_CONFIRMED", 409, "The reservation has already been cancelled.", final=True
)

# What stands in the way for a while.
ADMISSION_REFUSED = _refusal("ADMISSION_REFUSED", 503, "Too many commands are being decided at once.")
DEADLINE_PASSED = _refusal(
    "DEADLINE_PASSED",
    503,
    "The time for a command was over before the database was asked; nothing was changed.",
)
POOL_EXHAUSTED = _refusal("POOL_EXHAUSTED", 503, "No database connection came free in time.")
DATABASE_UNAVAILABLE = _refusal("DATABASE_UNAVAILABLE", 503, "The database cannot be reached.")
DATABASE_BUSY = _refusal("DATABASE_BUSY", 503, "The database could not decide in time; nothing was changed.")
OUTCOME_UNKNOWN = _refusal(
    "OUTCOME_UNKNOWN",
    503,
    "The outcome is unknown; repeat with the same Idempotency-Key to learn it.",
    definite=False,
)
INTERNAL_ERROR = _refusal(
    "INTERNAL_ERROR", 500, "The service failed in a way it did not foresee.", definite=False
)
