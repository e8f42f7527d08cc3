"""What can be asked of the built-in service over its public API, and what each of its answers means to whoever asked."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from scenarios.targets.target import Action, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenarios.scenario import Sale
    from scenarios.targets.target import Value

# What each refusal means to whoever was refused. A code that is not here stops the run.
_REFUSED: Final = {
    400: (
        "MALFORMED_REQUEST",
        "MALFORMED_JSON",
        "INVALID_QUERY",
        "IDEMPOTENCY_KEY_REQUIRED",
        "IDEMPOTENCY_KEY_INVALID",
    ),
    401: ("UNAUTHENTICATED",),
    403: ("FORBIDDEN", "OWNER_MISMATCH"),
    404: (
        "NOT_FOUND",
        "RESOURCE_NOT_FOUND",
        "HOLD_NOT_FOUND",
        "ENTRY_NOT_FOUND",
        "OFFER_NOT_FOUND",
        "RESERVATION_NOT_FOUND",
    ),
    405: ("METHOD_NOT_ALLOWED",),
    408: ("REQUEST_INCOMPLETE",),
    409: (
        "IDEMPOTENCY_FINGERPRINT_CONFLICT",
        "IDEMPOTENCY_IN_PROGRESS",
        "CAPACITY_EXHAUSTED",
        "RESOURCE_REVISION_CONFLICT",
        "RESOURCE_CLOSED",
        "OWNER_LIMIT_REACHED",
        "REVISION_CONFLICT",
        "POLICY_VERSION_MISMATCH",
        "HOLD_NOT_ACTIVE",
        "HOLD_EXPIRED",
        "SEATS_AVAILABLE",
        "ENTRY_NOT_WAITING",
        "OFFER_NOT_ACTIVE",
        "OFFER_EXPIRED",
        "RESERVATION_NOT_CONFIRMED",
    ),
    413: ("PAYLOAD_TOO_LARGE",),
    422: ("INVALID_BODY",),
    431: ("HEAD_TOO_LARGE",),
    503: ("ADMISSION_REFUSED", "DEADLINE_PASSED", "POOL_EXHAUSTED", "DATABASE_UNAVAILABLE", "DATABASE_BUSY"),
}
_REFUSALS: Final = tuple(
    Rule(said="fail", status=status, code=code) for status, codes in _REFUSED.items() for code in codes
)
# A server error that does not say it had no effect may have had one.
_UNKNOWN: Final = (Rule(said="info", status=500, status_max=599),)
# A resource that is shown has a code of its own, whatever it is.
_SHOWN: Final = Rule(said="ok", status=200, status_max=200)


def _command(
    kind: str,
    path: str,
    *,
    body: dict[str, Value | bool | None] | None = None,
    status: int = 200,
    subject: str = "resource",
    created: str | None = None,
    quantity: int = 1,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Action:
    return Action(
        kind=kind,
        method="POST",
        path=path,
        headers={"Authorization": "Bearer ${token}", "Idempotency-Key": "${key}", **headers},
        body={} if body is None else body,
        subject=subject,
        quantity=quantity,
        created=created,
        replay_header="idempotency-replayed",
        admission_header="admission",
        admissions=("redis", "local-fallback"),
        rules=(Rule(said="ok", status=status), *_REFUSALS, *_UNKNOWN),
    )


def _read(path: str, subject: str, *, created: str | None = None) -> Action:
    return Action(
        kind="read",
        method="GET",
        path=path,
        headers={"Authorization": "Bearer ${token}"},
        subject=subject,
        created=created,
        rules=(Rule(said="ok", status=200), *_REFUSALS, *_UNKNOWN),
    )


_HOLDS: Final = "/api/resources/${resource}/holds"
ACTIONS: Final[Mapping[str, Action]] = MappingProxyType(
    {
        "hold": _command("hold", _HOLDS, status=201, created="id"),
        "hold_at_revision": _command(
            "hold", _HOLDS, body={"expectedResourceRevision": "${revision}"}, status=201, created="id"
        ),
        "hold_two": _command("hold", _HOLDS, body={"quantity": 2}, status=201, created="id", quantity=2),
        # Whoever sends a token is who the token says; the header is to count for nothing beside it.
        "hold_in_the_name_of": _command(
            "hold", _HOLDS, status=201, created="id", headers={"X-Reservation-Owner": "${name}"}
        ),
        "confirm": _command(
            "confirm", "/api/holds/${hold}/confirm", subject="hold", status=201, created="id"
        ),
        "cancel": _command("cancel", "/api/holds/${hold}/cancel", subject="hold"),
        "cancel_in_the_name_of": _command(
            "cancel",
            "/api/holds/${hold}/cancel",
            subject="hold",
            headers={"X-Reservation-Owner": "${name}"},
        ),
        "join_waitlist": _command(
            "join_waitlist", "/api/resources/${resource}/waitlist", status=201, created="id"
        ),
        "leave_waitlist": _command("leave_waitlist", "/api/waitlist/${entry}/leave", subject="entry"),
        "accept_offer": _command(
            "accept_offer", "/api/offers/${offer}/accept", subject="offer", status=201, created="id"
        ),
        "decline_offer": _command("decline_offer", "/api/offers/${offer}/decline", subject="offer"),
        "cancel_reservation": _command(
            "cancel_reservation", "/api/reservations/${reservation}/cancel", subject="reservation"
        ),
        # The organiser's token comes with what is on sale: no buyer has one.
        "close": Action(
            kind="close",
            method="POST",
            path="/api/resources/${resource}/close",
            headers={"Authorization": "Bearer ${organiser}", "Idempotency-Key": "${key}"},
            replay_header="idempotency-replayed",
            rules=(_SHOWN, *_REFUSALS, Rule(said="fail", status=400, status_max=499), *_UNKNOWN),
        ),
        "read_resource": Action(
            kind="read",
            method="GET",
            path="/api/resources/${resource}",
            headers={"Authorization": "Bearer ${token}"},
            rules=(_SHOWN, *_REFUSALS, Rule(said="fail", status=400, status_max=499), *_UNKNOWN),
        ),
        # What may have come of waiting: the offer, once there is one.
        "read_entry": _read("/api/waitlist/${entry}", "entry", created="offerId"),
    }
)
WARM: Final = Action(
    kind="warm",
    method="GET",
    path="/health/live",
    subject="",
    code=None,
    rules=(Rule(said="ok", status=200),),
)


def creation(sale: Sale) -> Action:
    """Return the command that puts one resource on sale; `${code}` names it."""
    return Action(
        kind="create_resource",
        method="POST",
        path="/api/resources",
        headers={"Authorization": "Bearer ${token}", "Idempotency-Key": "${key}"},
        body={"code": "${code}", "capacity": sale.capacity, "perOwnerLimit": sale.owner_limit},
    )
