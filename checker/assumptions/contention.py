"""Vacuity: whether transactions contended where there is no barrier and everybody comes when he likes.

A transaction is open from when it has its number, at its first lock or change, to its commit. Numbers rise, so each was
given before the first change of every transaction with a higher one; and whoever was open when another of the same
resource committed had to wait for it, or was waited for. Code that lets one in after the other, by a lock of the database
or of its own that is taken before a transaction locks anything, has many under way and never two that are open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def contended_by_resource(*, at_least: int) -> Assumption:
    """Require so many transactions that were open when another of the same resource committed."""
    return Assumption(name="contended_by_resource", kind="vacuity", parameters={"at_least": at_least})


@measures(contended_by_resource, "vacuity")
def _contended_by_resource(evidence: Evidence, parameters: Parameters) -> Measured:
    least = int(parameters["at_least"])
    required = f"at least {least} transactions open when another of the same resource committed"
    if lack := evidence.lacks("trail"):
        return Measured(False, required, lack)
    beside, many = evidence.row(_BESIDE)
    return Measured(beside >= least, required, f"{beside} of {many}")


# Numbers have 32 bits and wrap around; no two of one run are 2^31 apart.
_BESIDE: Final = """
WITH numbered AS (
    SELECT commit_lsn, first_lsn,
        (CAST(xid AS BIGINT) - (SELECT CAST(arg_min(xid, commit_lsn) AS BIGINT) FROM transactions) + 6442450944) % 4294967296 AS nr
    FROM transactions
),
opened AS (
    SELECT commit_lsn, min(first_lsn) OVER (ORDER BY nr ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS open_lsn
    FROM numbered
),
touched AS (
    SELECT id AS resource, commit_lsn FROM commits.resources
    UNION SELECT resource, commit_lsn FROM commits.holds
    UNION SELECT resource, commit_lsn FROM commits.reservations
    UNION SELECT resource, commit_lsn FROM commits.waitlist_entries
    UNION SELECT resource, commit_lsn FROM commits.offers
),
met AS (
    SELECT t.commit_lsn, o.open_lsn < lag(t.commit_lsn) OVER (PARTITION BY t.resource ORDER BY t.commit_lsn) AS beside
    FROM touched t JOIN opened o ON o.commit_lsn = t.commit_lsn WHERE t.resource IS NOT NULL
)
SELECT count(DISTINCT commit_lsn) FILTER (beside), count(DISTINCT commit_lsn) FROM met
"""
