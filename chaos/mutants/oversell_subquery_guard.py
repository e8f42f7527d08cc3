"""One conditional UPDATE, and a condition that counts other rows: what a rival has just committed is not among them.

Found by trying it on PostgreSQL, and not in a report: that one is of the wider kind, a check and a decrement apart, which
such an UPDATE looks like the cure of.
"""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _schema, _take, reword
from service.reservation import holds

MUTANT: Final = Mutant(
    name="oversell-subquery-guard",
    mechanism="Takes a seat in one UPDATE whose condition counts the live holds and reservations in a subquery: an "
    "UPDATE that waited for a rival's sees the row as it is now, and the rows that it counts as they were before.",
    section="capacity",
    reports=("saleor/saleor#543",),
    scenario="last_seat_race",
    caught_by=("never_oversold",),
    racy=True,
    faults=("latency:pg=100ms",),
    schema=(_schema.NO_CAPACITY_CHECK,),
)

TAKEN: Final = """(
    SELECT coalesce(sum(quantity), 0) FROM (
        SELECT quantity FROM holds WHERE resource_id = r.id AND state = 'ACTIVE'
        UNION ALL SELECT quantity FROM reservations WHERE resource_id = r.id AND state = 'CONFIRMED'
    ) AS claims
)"""


def plant() -> None:
    """Let the UPDATE judge by the rows that it counts, and let whoever it does not serve be told that all is sold."""
    _take.drop_guard(holds.SQL)
    reword(holds.SQL, "take", was="FOR NO KEY UPDATE OF r", now="")
    reword(
        holds.SQL,
        "take",
        was="FROM decided AS d WHERE r.id = d.id AND d.refusal IS NULL",
        now=f"FROM decided AS d WHERE r.id = d.id AND d.refusal IS NULL AND {TAKEN} + $7 <= r.capacity",
    )
    reword(
        holds.SQL,
        "take",
        was="ON told.code = d.refusal",
        now="ON told.code = coalesce(d.refusal, 'CAPACITY_EXHAUSTED') AND NOT EXISTS (SELECT FROM held)",
    )
