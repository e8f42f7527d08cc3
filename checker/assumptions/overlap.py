"""Vacuity: whether what should have raced did race.

Two measures. *In flight together* is the client's: how many operations of a race had been sent and not answered.
*Contended* is the database's: transactions of a race whose windows from first change to commit intersect in the WAL.
A rival of the last seat writes its key before it waits for the row, so its window is open while it waits; code behind
a lock taken before the first change has all of them in flight and no two windows that intersect. A lock taken *after*
the key is told apart by what it does to races for different resources: under it no two transactions ever work past
their first change side by side, however many wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence

# With fewer transactions waiting side by side across races, not one of them working side by side may be chance: in a
# healthy run on two cores 1,722 waited and 38 worked so.
QUEUED_MIN: Final = 1_000


def in_flight_together(*, at_least: int, at_least_share: float = 0.5) -> Assumption:
    """Require so many operations in flight at once: in that share of the races, or in the run where there are none."""
    return Assumption(
        name="in_flight_together",
        kind="vacuity",
        parameters={"at_least": at_least, "at_least_share": at_least_share},
    )


@measures(in_flight_together, "vacuity")
def _in_flight_together(evidence: Evidence, parameters: Parameters) -> Measured:
    least, least_share = int(parameters["at_least"]), float(parameters.get("at_least_share", 0.5))
    races, reached, median, highest = evidence.row(
        """
        -- What never ended, not even by its deadline, was under way no longer than the longest that did, nor after the load.
        WITH ended AS (
            SELECT coalesce(max(done_ns - sent_ns), 0) AS longest_ns, max(greatest(sent_ns, done_ns)) AS last_ns FROM operations
        ),
        flights AS (
            SELECT coalesce(race, -1) AS race, sent_ns,
                coalesce(done_ns, least(sent_ns + (SELECT longest_ns FROM ended), (SELECT last_ns FROM ended))) AS done_ns
            FROM operations
            WHERE sent_ns IS NOT NULL AND (race IS NOT NULL OR NOT EXISTS (FROM operations WHERE race IS NOT NULL))
        ),
        -- An answer and a request of the same instant did not overlap: the answer (-1) sorts first.
        steps AS (SELECT race, sent_ns AS at_ns, 1 AS step FROM flights UNION ALL SELECT race, done_ns, -1 FROM flights),
        peaks AS (
            SELECT race, max(together) AS peak FROM (
                SELECT race, sum(step) OVER (PARTITION BY race ORDER BY at_ns, step ROWS UNBOUNDED PRECEDING) AS together
                FROM steps
            ) GROUP BY race
        )
        SELECT count(*) FILTER (race <> -1), count(*) FILTER (peak >= ?), quantile_disc(peak, 0.5), max(peak) FROM peaks
        """,
        least,
    )
    if not races:
        return Measured(
            (highest or 0) >= least,
            f"at least {least} operations in flight together",
            f"{highest or 0:.0f} at the highest, in a run without races",
        )
    return Measured(
        reached >= least_share * races,
        f"at least {least} operations of a race in flight together, in {least_share:.0%} of the races",
        f"{reached} of {races} races; the median race had {median:.0f}",
    )


def contended(*, at_least_share: float) -> Assumption:
    """Require that in this share of the races transactions were open side by side where the race is decided."""
    return Assumption(name="contended", kind="vacuity", parameters={"at_least_share": at_least_share})


@measures(contended, "vacuity")
def _contended(evidence: Evidence, parameters: Parameters) -> Measured:
    share = float(parameters["at_least_share"])
    required = f"transactions that intersect in the WAL, in {share:.0%} of the races"
    if lack := evidence.lacks("operations") or evidence.lacks("trail"):
        return Measured(False, required, lack)
    races, reached, median = evidence.row(_PEAKS)
    if not races:
        return Measured(False, required, "there was no race")
    waiting, working = evidence.row(_ACROSS)
    measured = f"{reached} of {races} races; in the median race {median or 0:.0f} were open at once"
    if waiting >= QUEUED_MIN and not working:
        return Measured(
            False,
            required,
            f"{measured}; but {waiting} waited across races and no two ever worked at once: one lock serves all",
        )
    return Measured(reached >= share * races, required, measured)


# The windows of a race's transactions, and how many were open at once. A window that closes where another opens is
# not open with it, though LSNs never tie.
_PEAKS: Final = """
WITH windows AS (
    SELECT DISTINCT o.race, t.commit_lsn, t.first_lsn
    FROM operations o JOIN operation_commits c ON c.op = o.op JOIN transactions t ON t.commit_lsn = c.commit_lsn
    WHERE o.race IS NOT NULL
),
steps AS (
    SELECT race, first_lsn AS lsn, 1 AS step FROM windows UNION ALL SELECT race, commit_lsn, -1 FROM windows
),
peaks AS (
    SELECT race, max(open) AS peak FROM (
        SELECT race, sum(step) OVER (PARTITION BY race ORDER BY lsn, step ROWS UNBOUNDED PRECEDING) AS open FROM steps
    ) GROUP BY race
)
SELECT (SELECT count(DISTINCT race) FROM operations WHERE race IS NOT NULL),
    count(*) FILTER (peak >= 2), quantile_disc(peak, 0.5)
FROM peaks
"""

# Across all races: how many transactions opened while one of another race was open, and how many did more
# than their first change while one of another race, past its first change too, was open.
_ACROSS: Final = """
WITH racing AS (
    SELECT DISTINCT o.race, c.commit_lsn FROM operations o JOIN operation_commits c ON c.op = o.op WHERE o.race IS NOT NULL
),
later AS (
    SELECT commit_lsn, min(change_lsn) AS second_lsn FROM (
        SELECT commit_lsn, change_lsn, row_number() OVER (PARTITION BY commit_lsn ORDER BY change_lsn) AS nr FROM changes
    ) WHERE nr > 1 GROUP BY commit_lsn
),
windows AS (
    SELECT r.race, t.first_lsn, l.second_lsn, t.commit_lsn
    FROM racing r JOIN transactions t ON t.commit_lsn = r.commit_lsn JOIN later l ON l.commit_lsn = r.commit_lsn
),
steps AS (
    SELECT race, first_lsn AS lsn, 1 AS step FROM windows UNION ALL SELECT race, commit_lsn, -1 FROM windows
),
waits AS (
    SELECT step, sum(step) OVER (ORDER BY lsn, step ROWS UNBOUNDED PRECEDING)
        > sum(step) OVER (PARTITION BY race ORDER BY lsn, step ROWS UNBOUNDED PRECEDING) AS beside
    FROM steps
),
works AS (
    SELECT second_lsn < max(commit_lsn) OVER (ORDER BY second_lsn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS beside
    FROM windows
)
SELECT (SELECT count(*) FROM waits WHERE beside AND step = 1), (SELECT count(*) FROM works WHERE beside)
"""
