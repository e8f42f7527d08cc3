"""What was refused is due again at once, first in line and for ever: nobody reads how often it was tried."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service import statements
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="poison-head",
    mechanism="Puts what was refused straight back at the head of the line, and never gives it up.",
    section="outbox",
    reports=("wso2/product-ei#2740", "HubSpot/Blazar-Archive#223", "MarcosRabadan/Agendia#260"),
    scenario="poison_delivery",
    caught_by=("attempts_are_bounded", "retries_are_bounded", "nothing_left_behind"),
)

(MARK_FAILED,) = statements.parse("""\
-- name: mark_failed
-- Puts a notice back, whichever attempt it was, and without a rest.
UPDATE notification_outbox
SET state = 'PENDING', next_attempt_at = coalesce(:at::timestamptz, clock_timestamp()),
    claim_token = NULL, claim_expires_at = NULL
WHERE delivery_id = :delivery AND state = 'CLAIMED' AND claim_token = :token
  AND (:attempts::bigint, :delay::interval) IS NOT NULL
RETURNING state, next_attempt_at
""")


def plant() -> None:
    """Take the bound and the rest out of the outbox's statements, and put the oldest first."""
    outbox.SQL["mark_failed"] = MARK_FAILED
    reword(outbox.SQL, "claim", was="attempt_count < $2", now="$2::bigint IS NOT NULL")
    reword(outbox.SQL, "claim", was="coalesce(next_attempt_at, claim_expires_at), id LIMIT", now="id LIMIT")
    reword(outbox.SQL, "exhaust", was="attempt_count >= $2", now="$2::bigint IS NULL")
