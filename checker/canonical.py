"""The canonical evidence tables: the names and types in which invariants are written, whatever the target calls them."""

from __future__ import annotations

from typing import Final

TEXT: Final = "VARCHAR"
WHOLE: Final = "BIGINT"

# States are restated here, never imported from the service: a wrong table there must not excuse itself.
# A hold: ACTIVE → CONFIRMED | CANCELLED | EXPIRED. An offer: ACTIVE → ACCEPTED | DECLINED | EXPIRED.
# A reservation: CONFIRMED → CANCELLED. A resource: OPEN → CLOSED.
TABLES: Final[dict[str, dict[str, str]]] = {
    "resources": {
        "id": TEXT,
        "tenant": TEXT,
        "capacity": WHOLE,
        "occupied": WHOLE,  # what the service itself counts
        "revision": WHOLE,
        "state": TEXT,
    },
    "holds": {
        "id": TEXT,
        "tenant": TEXT,
        "resource": TEXT,
        "owner": TEXT,
        "quantity": WHOLE,
        "state": TEXT,
        "key": TEXT,  # the idempotency key it was made under
        "created_us": WHOLE,
        "expires_us": WHOLE,
        "ended_us": WHOLE,
    },
    "reservations": {
        "id": TEXT,
        "tenant": TEXT,
        "resource": TEXT,
        "owner": TEXT,
        "quantity": WHOLE,
        "state": TEXT,
        "hold": TEXT,
        "offer": TEXT,
        "key": TEXT,
        "created_us": WHOLE,
        "ended_us": WHOLE,
    },
    "waitlist_entries": {
        "id": TEXT,
        "tenant": TEXT,
        "resource": TEXT,
        "owner": TEXT,
        "seq": WHOLE,
        "state": TEXT,
        "reason": TEXT,
        "key": TEXT,
        "created_us": WHOLE,
        "ended_us": WHOLE,
    },
    "offers": {
        "id": TEXT,
        "tenant": TEXT,
        "resource": TEXT,
        "owner": TEXT,
        "entry": TEXT,
        "quantity": WHOLE,
        "state": TEXT,
        "created_us": WHOLE,
        "expires_us": WHOLE,
        "ended_us": WHOLE,
    },
    "idempotency_records": {
        "id": TEXT,
        "tenant": TEXT,
        "operation": TEXT,  # as in operations.kind
        "key": TEXT,
        "fingerprint": TEXT,
    },
    "idempotency_answers": {
        "record": TEXT,  # idempotency_records.id
        "status": WHOLE,
    },
}

# What the answer to an operation of this kind names in `created`.
CREATES: Final[dict[str, str]] = {
    "hold": "holds",
    "confirm": "reservations",
    "join_waitlist": "waitlist_entries",
    "accept_offer": "reservations",
}
