"""Vacuity: commits that happened and of which nobody was told, as of a COMMIT whose answer is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def committed_unknown(*, at_least: int) -> Assumption:
    """Require so many commands that were committed though whoever had asked by then never learned of it."""
    return Assumption(name="committed_unknown", kind="vacuity", parameters={"at_least": at_least})


@measures(committed_unknown, "vacuity")
def _committed_unknown(evidence: Evidence, parameters: Parameters) -> Measured:
    least = int(parameters["at_least"])
    required = f"at least {least} commands that were committed and not known to be"
    if lack := evidence.lacks("operations") or evidence.lacks("trail"):
        return Measured(False, required, lack)
    (unknown,) = evidence.row(_UNKNOWN)
    return Measured(unknown >= least, required, f"{unknown} of them")


# A commit under a key is whose attempt had been sent by then, as far as clocks can tell; one that was sent later was told
# of it, or carried it out itself.
_UNKNOWN: Final = """
SELECT count(*) FROM (
    SELECT c.commit_lsn, o.tenant, o.kind, o.key
    FROM operation_commits c JOIN operations o ON o.op = c.op JOIN transactions t ON t.commit_lsn = c.commit_lsn
    WHERE o.key IS NOT NULL AND o.sent_ns <= t.commit_ns + (SELECT ns FROM clock_error)
    GROUP BY ALL HAVING bool_and(o.outcome = 'info')
)
"""
