"""The canonical evidence tables: the names and types in which invariants are written, whatever the target calls them."""

from __future__ import annotations

from typing import Final

TEXT: Final = "VARCHAR"
WHOLE: Final = "BIGINT"
FLAG: Final = "BOOLEAN"

# States are restated here, never imported from the service: a wrong table there must not excuse itself.
STATES: Final[dict[str, tuple[str, ...]]] = {
    "resources": ("OPEN", "CLOSED"),
    "holds": ("ACTIVE", "CONFIRMED", "CANCELLED", "EXPIRED"),
    "reservations": ("CONFIRMED", "CANCELLED"),
    "waitlist_entries": ("WAITING", "OFFERED", "ACCEPTED", "DECLINED", "EXPIRED", "LEFT"),
    "offers": ("ACTIVE", "ACCEPTED", "DECLINED", "EXPIRED"),
    "outbox": ("PENDING", "CLAIMED", "DELIVERED", "EXHAUSTED"),
}
"""The words a state may be: what has another is counted by no rule. Which may follow which is in derived/0_moves.sql."""

TABLES: Final[dict[str, dict[str, str]]] = {
    "resources": {
        "id": TEXT,
        "tenant": TEXT,
        "capacity": WHOLE,
        "occupied": WHOLE,  # what the service itself counts
        "revision": WHOLE,
        "state": TEXT,
        "policy_version": WHOLE,
        "owner_limit": WHOLE,  # how many seats one owner may have; null: any number
        "locked_first": FLAG,  # whether whoever ends a hold or an offer locks this row before it reads the time
    },
    "holds": {
        "id": TEXT,
        "tenant": TEXT,
        "resource": TEXT,
        "owner": TEXT,
        "quantity": WHOLE,
        "state": TEXT,
        "key": TEXT,  # the idempotency key it was made under
        "revision": WHOLE,
        "policy_version": WHOLE,
        "created_us": WHOLE,
        "expires_us": WHOLE,
        "ended_us": WHOLE,
        "term": WHOLE,  # of the leader that swept it
        "slot": TEXT,  # leader_leases.slot of that term
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
        "revision": WHOLE,
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
        "revision": WHOLE,
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
        "revision": WHOLE,
        "created_us": WHOLE,
        "expires_us": WHOLE,
        "ended_us": WHOLE,
        "term": WHOLE,  # as of holds
        "slot": TEXT,
    },
    "idempotency_records": {
        "id": TEXT,
        "tenant": TEXT,
        "operation": TEXT,  # as in operations.kind
        "key": TEXT,
        "fingerprint": TEXT,
        "claimed_until_us": WHOLE,  # until when it is left to whoever claimed it, while it has no answer
        "claim_us_max": WHOLE,  # how long a claim may last; without claimed_until_us it is taken to last for ever
    },
    "idempotency_answers": {
        "record": TEXT,  # idempotency_records.id
        "status": WHOLE,
    },
    "outbox": {
        "delivery": TEXT,  # the id under which the provider knows it, in every attempt
        "tenant": TEXT,
        "kind": TEXT,
        "entry": TEXT,  # waitlist_entries.id of the offer it tells of; null for any other event
        "state": TEXT,
        "attempts": WHOLE,  # claims so far
        "attempts_max": WHOLE,
        "claim": TEXT,  # the token of who sends it now
        "claimed_until_us": WHOLE,
        "next_us": WHOLE,  # not to be claimed before
        "created_us": WHOLE,
        "ended_us": WHOLE,
    },
    "leader_leases": {
        "slot": TEXT,
        "holder": TEXT,
        "term": WHOLE,
        "expires_us": WHOLE,
        "resources_max": WHOLE,  # how many resources one tick may sweep
        "rows_max": WHOLE,  # how many holds, and how many offers, one of its transactions may end
    },
}

# What the answer to an operation of this kind names in `created`.
CREATES: Final[dict[str, str]] = {
    "hold": "holds",
    "confirm": "reservations",
    "join_waitlist": "waitlist_entries",
    "accept_offer": "reservations",
}
