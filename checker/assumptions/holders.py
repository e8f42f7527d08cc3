"""Vacuity: whether what somebody had in hand passed to another, or was in two hands side by side: keys, the lead, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def taken_over(*, at_least: int) -> Assumption:
    """Require so many claims of keys that had run out, or were given up, and passed to somebody else."""
    return Assumption(name="taken_over", kind="vacuity", parameters={"at_least": at_least})


@measures(taken_over, "vacuity")
def _taken_over(evidence: Evidence, parameters: Parameters) -> Measured:
    least = int(parameters["at_least"])
    required = f"at least {least} claims of keys that were taken over"
    if lack := evidence.lacks("trail") or evidence.lacks("idempotency_records.claimed_until_us"):
        return Measured(False, required, lack)
    taken, claimed = evidence.row(_TAKEN_OVER)
    return Measured(taken >= least, required, f"{taken} of {claimed} keys were taken over")


# A claim that ends later than it did has begun anew: whoever gives one up only lets it end sooner.
_TAKEN_OVER: Final = """
SELECT count(DISTINCT row_key) FILTER (claimed_until_us > before_us), count(DISTINCT row_key) FROM (
    SELECT row_key, claimed_until_us, lag(claimed_until_us) OVER (PARTITION BY row_key ORDER BY commit_lsn) AS before_us
    FROM commits.idempotency_records WHERE present
)
"""


def led(*, at_least: int) -> Assumption:
    """Require so many terms of one lead while the load lasted: one is taken over when its leader is stopped at the end."""
    return Assumption(name="led", kind="vacuity", parameters={"at_least": at_least})


@measures(led, "vacuity")
def _led(evidence: Evidence, parameters: Parameters) -> Measured:
    least = int(parameters["at_least"])
    required = f"at least {least} terms begun before the load was over"
    if (
        lack := evidence.lacks("operations")
        or evidence.lacks("trail")
        or evidence.lacks("leader_leases.term")
    ):
        return Measured(False, required, lack)
    (terms,) = evidence.row(_TERMS)
    return Measured(terms >= least, required, f"{terms} terms")


_TERMS: Final = """
SELECT coalesce(max(terms), 0) FROM (
    SELECT count(DISTINCT l.term) AS terms
    FROM commits.leader_leases l LEFT JOIN transactions t ON t.commit_lsn = l.commit_lsn
    WHERE l.present AND coalesce(t.commit_ns <= (SELECT max(greatest(sent_ns, done_ns)) FROM operations), l.commit_lsn = 0)
    GROUP BY l.slot
)
"""


def claimed_beside(*, at_least: int) -> Assumption:
    """Require so many notices claimed for sending while others were in somebody else's hands."""
    return Assumption(name="claimed_beside", kind="vacuity", parameters={"at_least": at_least})


@measures(claimed_beside, "vacuity")
def _claimed_beside(evidence: Evidence, parameters: Parameters) -> Measured:
    least = int(parameters["at_least"])
    required = f"at least {least} notices claimed while others were in another's hands"
    if lack := evidence.lacks("trail") or evidence.lacks("outbox.claim"):
        return Measured(False, required, lack)
    beside, claimed = evidence.row(_BESIDE)
    return Measured(beside >= least, required, f"{beside} of {claimed} claims of a notice")


# What one sender claims at once bears one token; it is in hand until the last of it is marked.
_BESIDE: Final = """
WITH steps AS (
    SELECT claim, state, commit_lsn, lead(commit_lsn, 1, 18446744073709551615) OVER (PARTITION BY row_key ORDER BY commit_lsn) AS until_lsn
    FROM commits.outbox WHERE present
),
rounds AS (
    SELECT claim, min(commit_lsn) AS from_lsn, max(until_lsn) AS until_lsn, count(*) AS notices
    FROM steps WHERE state = 'CLAIMED' AND claim IS NOT NULL GROUP BY claim
)
SELECT coalesce(sum(notices) FILTER (from_lsn < others_lsn), 0)::BIGINT, coalesce(sum(notices), 0)::BIGINT FROM (
    SELECT *, max(until_lsn) OVER (ORDER BY from_lsn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS others_lsn
    FROM rounds
)
"""
