"""What the report tells of the trail: the commits of one race, and how full the resources were after each commit."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pandas as pd

from checker.evidence import EvidenceError, open_evidence
from reports.evidence import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.evidence import Evidence as Opened
    from reports.evidence import Evidence

COMMITS_MAX = 200
# Commits of a resource this far outside the race belong to another chapter: an expiry, a later buyer.
MARGIN_MS = 50.0
_DEEDS = {"I": "made", "U": "changed", "D": "deleted"}

_COMMITS = """
WITH claims AS (
    SELECT 'hold' AS noun, id, state, action, commit_lsn FROM commits.holds WHERE resource = $1
    UNION ALL SELECT 'reservation', id, state, action, commit_lsn FROM commits.reservations WHERE resource = $1
    UNION ALL SELECT 'offer', id, state, action, commit_lsn FROM commits.offers WHERE resource = $1
)
SELECT t.commit_ns, list(DISTINCT o.op), list(DISTINCT (c.noun, c.id, c.state, c.action))
FROM claims c JOIN transactions t USING (commit_lsn) LEFT JOIN operation_commits o USING (commit_lsn)
WHERE t.commit_ns BETWEEN $2 AND $3
GROUP BY commit_lsn, t.commit_ns ORDER BY commit_lsn LIMIT $4
"""
_OCCUPANCY = """
SELECT o.resource, t.commit_ns, o.claimed, o.capacity
FROM occupancy o LEFT JOIN transactions t USING (commit_lsn) ORDER BY o.commit_lsn, o.resource
"""
_CLOCK = "SELECT max(slack_ns), (SELECT max(ns) FROM clock_error) FROM database_clock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit on a resource: when (ms after t0, a lower bound), by which operations, and what it changed."""

    at_ms: float
    operations: frozenset[int]
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """The trail of one run, opened once for everything that asks it; without `opened`, `why` says why not."""

    run: Evidence
    opened: Opened | None
    why: str

    def commits(self, resource: str, around_ms: tuple[float, float]) -> tuple[tuple[Commit, ...], str]:
        """Return the commits on a resource around a window, and one sentence on how they were placed or why not."""
        if self.opened is None:
            return (), self.why
        low, high = (
            self.run.t0_ns + int(at_ms * NS_PER_MS)
            for at_ms in (around_ms[0] - MARGIN_MS, around_ms[1] + MARGIN_MS)
        )
        try:
            slack_ns, error_ns = self.opened.row(_CLOCK)
            rows = self.opened.rows(_COMMITS, resource, low, high, COMMITS_MAX)
        except duckdb.Error as broken:
            return (), f"The commits could not be read from the trail ({type(broken).__name__})."
        if slack_ns is None:
            return (), "PostgreSQL's clock was not recorded, so that commits cannot be put on the time line."
        found = tuple(
            Commit(
                at_ms=(commit_ns - self.run.t0_ns) / NS_PER_MS,
                operations=frozenset(op for op in operations if op is not None),
                what="; ".join(sorted(_what(*change) for change in changes)),
            )
            for commit_ns, operations, changes in rows
        )
        return found, (
            f"Commit instants are PostgreSQL's own, mapped by its clock (± {error_ns / 1e3:,.0f} µs); each is a "
            f"lower bound, taken before the commit was flushed and visible."
        )

    def occupancy(self) -> pd.DataFrame | None:
        """Return `resource`, `at_ms` (0 for all before the load), `claimed` and `capacity` after each commit, if known."""
        if self.opened is None:
            return None
        try:
            rows = self.opened.rows(_OCCUPANCY)
        except duckdb.Error:
            return None
        if not rows:
            return None
        frame = pd.DataFrame(
            [
                (resource, commit_ns or self.run.t0_ns, claimed, capacity)
                for resource, commit_ns, claimed, capacity in rows
            ],
            columns=["resource", "at_ns", "claimed", "capacity"],
        )
        # What was put on sale before the load is there when it starts.
        frame["at_ms"] = ((frame["at_ns"] - self.run.t0_ns) / NS_PER_MS).clip(lower=0.0)
        return frame


@contextmanager
def opened(run: Evidence) -> Iterator[Trail]:
    """Open the trail of a run for as long as its report is drawn; it never raises for what is not there."""
    with ExitStack() as stack:
        try:
            if run.brief is None or "holds" not in run.brief.tables:
                yield Trail(
                    run=run, opened=None, why="No table of holds is described, so that commits are not shown."
                )
                return
            evidence = stack.enter_context(open_evidence(run.folder, run.brief))
            lacking = evidence.lacks("trail")
        except (EvidenceError, duckdb.Error, OSError) as broken:
            evidence, lacking = None, f"the evidence could not be opened ({type(broken).__name__})"
        yield Trail(
            run=run,
            opened=None if lacking else evidence,
            why=f"Commits are not shown: {lacking}." if lacking else "",
        )


def _what(noun: str, row: str | None, state: str | None, action: str) -> str:
    return " ".join(word for word in (noun, row, _DEEDS.get(action, action), state) if word)
