"""The witness: the few operations, commits and rows that prove one counter-example, told in the order of time.

It is found from the columns that a counter-example shows, so that an invariant of a user's own has one too: `op`,
`key` and `hold` name operations and rows, `resource` with `commit_lsn` names a commit and the claims that led to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from checker.verdict import WitnessLine

if TYPE_CHECKING:
    from checker.evidence import Evidence

LINES_MAX: Final = 12
COMMITS_MAX: Final = 3


class _Moment(NamedTuple):
    """One thing that happened: at an instant (ns; None: at rest), in a place among the things of that instant."""

    at_ns: int | None
    place: int
    who: str
    what: str


def witness(evidence: Evidence, example: dict[str, Any]) -> tuple[WitnessLine, ...]:
    """Return the story of one counter-example in at most a dozen lines; none if its columns name nothing known."""
    moments: set[_Moment] = set()
    if example.get("resource") is not None and example.get("commit_lsn") is not None:
        moments |= _claims(evidence, str(example["resource"]), int(example["commit_lsn"]))
    elif example.get("resource") is not None:
        moments |= _around(evidence, example)
    if example.get("key") is not None:
        moments |= _operations(evidence, "key = ?", str(example["key"]))
        moments |= _holds(evidence, "key = ?", str(example["key"]))
    if example.get("op") is not None:
        moments |= _operations(evidence, "op = ?", int(example["op"]))
    if example.get("hold") is not None:
        moments |= _holds(evidence, "id = ?", str(example["hold"]))
    return _told(evidence, moments, _conclusion(example))


def _told(evidence: Evidence, moments: set[_Moment], conclusion: _Moment) -> tuple[WitnessLine, ...]:
    """Order the moments, drop the middle of what is too long, and end with what is wrong."""
    ordered = sorted(moments, key=lambda moment: (moment.at_ns is None, moment.at_ns or 0, *moment[1:]))
    room = LINES_MAX - 1
    if len(ordered) > room:
        left_out = len(ordered) - room + 1
        head = room // 2
        middle = _Moment(ordered[head].at_ns, 0, "…", f"{left_out} more")
        ordered = [*ordered[:head], middle, *ordered[head + left_out :]]
    zero = evidence.brief.t0_ns
    return tuple(
        WitnessLine(
            at_ms=None if moment.at_ns is None else round((moment.at_ns - zero) / 1e6, 3),
            who=moment.who,
            what=moment.what,
        )
        for moment in (*ordered, conclusion._replace(at_ns=ordered[-1].at_ns if ordered else None))
    )


def _conclusion(example: dict[str, Any]) -> _Moment:
    told = {
        name: value
        for name, value in example.items()
        if value is not None and not name.endswith(("_ns", "_lsn"))
    }
    said = ", ".join(f"{name} {value}" for name, value in told.items())
    return _Moment(None, 0, "in sum", said)


def _operations(evidence: Evidence, where: str, value: str | int) -> set[_Moment]:
    """Tell the operations that a condition picks: when each was sent and how it ended."""
    rows = evidence.records(
        f"""
        SELECT op, kind, subject, coalesce(quantity, 1) AS quantity, attempt, owner, node, key, sent_ns, done_ns, outcome, status,
            code, error, created, replayed
        FROM operations WHERE {where} ORDER BY sent_ns, op LIMIT {LINES_MAX}
        """,
        value,
    )
    moments: set[_Moment] = set()
    for row in rows:
        who = f"{row['owner'] or 'a buyer'} (op {row['op']})"
        attempt = f", attempt {row['attempt']}" if (row["attempt"] or 1) > 1 else ""
        quantity = f" × {row['quantity']}" if row["quantity"] != 1 else ""
        node = f" to node {row['node']}" if row["node"] else ""
        moments.add(
            _Moment(
                row["sent_ns"], 1, who, f"sends {row['kind']} on #{row['subject']}{quantity}{node}{attempt}"
            )
        )
        moments.add(_Moment(row["done_ns"], 3, who, _answer(row)))
    return moments


def _answer(row: dict[str, Any]) -> str:
    if row["outcome"] == "info":
        return f"never learns what became of it ({row['error'] or row['status']})"
    status = f" {row['status']}" if row["status"] else ""
    code = f" {row['code']}" if row["code"] else ""
    made = f", {row['kind']} {row['created']}" if row["created"] else ""
    again = ", replayed" if row["replayed"] else ""
    return f"is told {row['outcome']}{status}{code}{made}{again}"


def _holds(evidence: Evidence, where: str, value: str) -> set[_Moment]:
    """Tell what became of the holds that a condition picks, commit by commit."""
    rows = evidence.rows(
        f"""
        SELECT h.id, h.resource, h.state, h.quantity, h.action, t.commit_ns, t.xid FROM commits.holds h
        LEFT JOIN transactions t ON t.commit_lsn = h.commit_lsn
        WHERE h.row_key IN (SELECT row_key FROM commits.holds WHERE {where}) ORDER BY h.commit_lsn, h.id LIMIT {LINES_MAX}
        """,
        value,
    )
    return {
        _Moment(
            commit_ns,
            2,
            f"hold {hold}" if hold else "a hold",
            f"is {state} on {resource} × {quantity or 1}{_by(xid)}" if state else f"is deleted{_by(xid)}",
        )
        for hold, resource, state, quantity, _, commit_ns, xid in rows
    }


def _by(xid: int | None) -> str:
    return f" (xid {xid})" if xid is not None else ""


def _claims(evidence: Evidence, resource: str, commit_lsn: int) -> set[_Moment]:
    """Tell how a resource came to be claimed as it was at a commit: the last commits, and who was behind them."""
    rows = evidence.rows(
        f"""
        SELECT o.commit_lsn, o.moved, o.claimed, o.capacity, o.occupied, t.commit_ns, t.xid
        FROM occupancy o LEFT JOIN transactions t ON t.commit_lsn = o.commit_lsn
        WHERE o.resource = ? AND o.commit_lsn <= ? AND (o.moved <> 0 OR o.occupied <> o.claimed OR o.commit_lsn = ?)
        ORDER BY o.commit_lsn DESC LIMIT {COMMITS_MAX}
        """,
        resource,
        commit_lsn,
        commit_lsn,
    )
    moments: set[_Moment] = set()
    for lsn, moved, claimed, capacity, occupied, commit_ns, xid in rows:
        if not lsn:
            continue
        counter = f", counted {occupied}" if occupied is not None else ""
        moments.add(_Moment(commit_ns, 2, f"commit{_by(xid)}", f"{_step(moved, claimed, capacity)}{counter}"))
        for (op,) in evidence.rows(
            "SELECT DISTINCT op FROM operation_commits WHERE commit_lsn = ? ORDER BY op LIMIT 1", lsn
        ):
            moments |= _operations(evidence, "op = ?", op)
    return moments


def _step(moved: int, claimed: int, capacity: int | None) -> str:
    of = f" of {capacity}" if capacity is not None else ""
    return f"{moved:+d} → {claimed}{of} claimed" if moved else f"{claimed}{of} claimed"


def _around(evidence: Evidence, example: dict[str, Any]) -> set[_Moment]:
    """Tell the commits that made room and took it, around the span that a counter-example names."""
    since, until = example.get("free_since_ns"), example.get("free_until_ns")
    if since is None:
        return set()
    moments = (
        {_Moment(since, 0, f"resource {example['resource']}", "certainly has room from here on")}
        if since > 0
        else set()
    )
    if until is not None:
        moments.add(_Moment(until, 4, f"resource {example['resource']}", "may be full again from here on"))
    rows = evidence.rows(
        f"""
        SELECT o.moved, o.claimed, o.capacity, v.commit_ns, t.xid FROM occupancy o
        JOIN visible v ON v.commit_lsn = o.commit_lsn JOIN transactions t ON t.commit_lsn = o.commit_lsn
        WHERE o.resource = ? AND v.commit_ns <= coalesce(?, v.commit_ns) ORDER BY o.commit_lsn DESC LIMIT {COMMITS_MAX}
        """,
        str(example["resource"]),
        until,
    )
    for moved, claimed, capacity, commit_ns, xid in rows:
        moments.add(
            _Moment(commit_ns, 2, f"commit{_by(xid)}", f"{moved:+d} → {claimed} of {capacity} claimed")
        )
    return moments
