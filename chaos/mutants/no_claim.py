"""What is to be sent is read and not claimed: every worker that looks meanwhile sends it, too."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _schema
from service import statements
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="no-claim",
    mechanism="Reads what is pending without claiming it, and counts the attempt only once it is over.",
    section="outbox",
    reports=(
        "makeplane/plane#9609",
        "NullDesk/ticketdesk#65",
        "department-of-veterans-affairs/notification-api#2473",
    ),
    scenario="slow_provider",
    caught_by=("attempts_are_bounded",),
    racy=True,
    schema=(_schema.any_move("notification_outbox"),),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: claim
-- Reads the notices whose time has come; nothing says that somebody is at it.
SELECT delivery_id, kind, payload, attempt_count + 1 AS attempt_count FROM notification_outbox
WHERE state = 'PENDING' AND next_attempt_at <= coalesce(:at::timestamptz, statement_timestamp())
  AND attempt_count < :attempts
  AND (:delivery::text IS NULL OR delivery_id = :delivery)
  AND (:token::text, :lease::interval) IS NOT NULL
ORDER BY next_attempt_at, id LIMIT :batch

-- name: mark_delivered
-- Ends a notice that the provider has taken, if nobody has ended it meanwhile.
UPDATE notification_outbox
SET state = 'DELIVERED', attempt_count = attempt_count + 1, next_attempt_at = NULL,
    ended_at = coalesce(:at::timestamptz, clock_timestamp())
WHERE delivery_id = :delivery AND state = 'PENDING' AND :token::text IS NOT NULL
RETURNING state

-- name: mark_failed
-- Lets a notice rest until its next attempt, or ends it after the last.
UPDATE notification_outbox
SET state = CASE WHEN attempt_count + 1 < :attempts THEN 'PENDING' ELSE 'EXHAUSTED' END,
    attempt_count = attempt_count + 1,
    next_attempt_at = CASE WHEN attempt_count + 1 < :attempts
        THEN coalesce(:at::timestamptz, clock_timestamp()) + :delay::interval END,
    ended_at = CASE WHEN attempt_count + 1 < :attempts THEN NULL
        ELSE coalesce(:at::timestamptz, clock_timestamp()) END
WHERE delivery_id = :delivery AND state = 'PENDING' AND :token::text IS NOT NULL
RETURNING state, next_attempt_at
""")
}


def plant() -> None:
    """Put statements that know of no claims in the place of the outbox's own."""
    outbox.SQL.update(SQL)
