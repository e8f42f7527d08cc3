# name: seats_linearize_without_trail
# sentence: What buyers were told of single seats fits an order in which each took effect between question and answer.
# needs: operations, state, resources.capacity, holds.resource, holds.state
# rests on: history_complete, states_known
# catches: never-released
"""For a database without logical decoding: seat by seat, by what buyers saw alone.

A resource is left out where that does not tell the whole story: several seats at once, a waitlist, holds that expired or
that stood there before.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from checker.linear import Call, Undecided, Work, first_impossible

if TYPE_CHECKING:
    from checker.evidence import Evidence

CALLS_MAX: Final = 100_000

_JUDGED: Final = """
CREATE OR REPLACE TEMP TABLE judged AS
WITH asked AS (SELECT subject AS resource, max(coalesce(quantity, 1)) AS quantity FROM operations WHERE kind = 'hold' GROUP BY subject),
known AS (SELECT created AS id FROM operations WHERE created IS NOT NULL),
keys AS (SELECT key FROM operations WHERE key IS NOT NULL),
untold AS (
    SELECT resource FROM state.holds
    WHERE state = 'EXPIRED' OR id NOT IN (SELECT id FROM known) AND coalesce(key NOT IN (SELECT key FROM keys), true)
    UNION SELECT subject FROM operations WHERE kind = 'join_waitlist'
    UNION SELECT resource FROM state.offers
)
SELECT r.id AS resource, r.capacity FROM state.resources r JOIN asked a ON a.resource = r.id
WHERE a.quantity = 1 AND r.capacity IS NOT NULL AND r.id NOT IN (SELECT resource FROM untold WHERE resource IS NOT NULL)
"""

# All attempts under a key are one take, and all attempts to end a hold are one give: a hold ends once.
_CALLS: Final = """
WITH holds AS (
    SELECT coalesce(concat_ws('/', tenant, key), op::VARCHAR) AS name, * FROM operations o
    WHERE kind = 'hold' AND sent_ns IS NOT NULL AND subject IN (SELECT resource FROM judged)
),
takes AS (
    SELECT subject AS resource, min(op) AS op, min(sent_ns) FILTER (outcome <> 'fail' OR sold_out) AS sent_ns,
        CASE WHEN bool_or(outcome = 'ok') THEN 'take' WHEN bool_or(sold_out) THEN 'refused' ELSE 'take' END AS kind,
        min(done_ns) FILTER (outcome = 'ok' OR sold_out) AS done_ns, bool_or(outcome <> 'fail' OR sold_out) AS matters
    FROM (SELECT *, outcome = 'fail' AND coalesce(code IN (SELECT code FROM refusals WHERE meaning = 'sold_out'), false) AS sold_out FROM holds)
    GROUP BY subject, name
),
owned AS (SELECT created AS hold, subject AS resource FROM holds WHERE outcome = 'ok' AND created IS NOT NULL),
confirmed AS (SELECT created AS reservation, subject AS hold FROM operations WHERE kind = 'confirm' AND outcome = 'ok'),
ended AS (
    SELECT o.op, o.outcome, o.sent_ns, o.done_ns, coalesce(c.hold, o.subject) AS hold
    FROM operations o LEFT JOIN confirmed c ON o.kind = 'cancel_reservation' AND c.reservation = o.subject
    WHERE o.kind IN ('cancel', 'cancel_reservation') AND o.outcome <> 'fail' AND o.sent_ns IS NOT NULL
),
gives AS (
    SELECT w.resource, min(e.op) AS op, min(e.sent_ns) AS sent_ns, 'give' AS kind,
        min(e.done_ns) FILTER (e.outcome = 'ok') AS done_ns
    FROM ended e JOIN (SELECT DISTINCT * FROM owned) w ON w.hold = e.hold GROUP BY w.resource, e.hold
)
SELECT j.resource, j.capacity, c.op, c.kind, c.sent_ns, c.done_ns FROM judged j JOIN (
    SELECT resource, op, kind, sent_ns, done_ns FROM takes WHERE matters
    UNION ALL SELECT resource, op, kind, sent_ns, done_ns FROM gives
) c ON c.resource = j.resource
ORDER BY j.resource, c.sent_ns, c.op
"""


def judge(evidence: Evidence) -> tuple[int, list[dict[str, Any]]]:
    """Return how many operations were searched, and the first of each resource that fits no order; raises Undecided."""
    evidence.execute(_JUDGED)
    rows = evidence.rows(f"{_CALLS} LIMIT {CALLS_MAX + 1}")
    if len(rows) > CALLS_MAX:
        raise Undecided(f"there are more than {CALLS_MAX} operations to search")
    work = Work()
    found = []
    for (resource, capacity), group in groupby(rows, key=lambda row: (row[0], row[1])):
        calls = [Call(op, kind, sent_ns, done_ns) for _, _, op, kind, sent_ns, done_ns in group]
        impossible = first_impossible(capacity, calls, work)
        if impossible is not None:
            found.append(
                {"op": impossible.op, "resource": resource, "capacity": capacity, "was": impossible.kind}
            )
    return len(rows), found
