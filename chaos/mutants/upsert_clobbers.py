"""A repeated command resets its own record: what was answered 201 is in progress again, and then a refusal."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import idempotency

MUTANT: Final = Mutant(
    name="upsert-clobbers",
    mechanism="Claims a key by an upsert that resets whatever is known of it, and overwrites the stored answer.",
    section="idempotency",
    reports=("KanishJebaMathewM/Truxify#9954",),
    scenario="hot_row_stampede",
    caught_by=("replay_is_identical", "terminal_rows_never_change"),
)


def plant() -> None:
    """Let a claim win over what is stored, and its answer over the one before."""
    reword(
        idempotency.SQL,
        "claim",
        was="ON CONFLICT (tenant, operation, key) DO NOTHING",
        now="ON CONFLICT (tenant, operation, key) DO UPDATE"
        " SET owner_token = excluded.owner_token, lease_expires_at = excluded.lease_expires_at",
    )
    reword(
        idempotency.SQL,
        "finalize",
        was="ON CONFLICT (record_id) DO NOTHING",
        now="ON CONFLICT (record_id) DO UPDATE SET status = excluded.status, body = excluded.body",
    )
