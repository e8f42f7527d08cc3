"""The moments of a witness: what was asked and answered, and what a resource's commits came to, each as who, what and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from checker.canonical import CREATES

if TYPE_CHECKING:
    from checker.evidence import Evidence
    from checker.verdict import Scalar

OPERATIONS_MAX: Final = 12
COMMITS_MAX: Final = 3
EFFECTS_MAX: Final = 4

# The place of a moment among those of its instant. What stood there before the run is dated at t₀, and began earlier.
BEFORE, SINCE, SENT, TAKEN, COMMITTED, TOLD, UNTIL = range(-1, 6)

#: What one row of each table is called.
WORDS: Final = {
    "holds": "hold",
    "reservations": "reservation",
    "waitlist_entries": "entry",
    "offers": "offer",
    "outbox": "delivery",
    "leader_leases": "lease",
    "resources": "resource",
}


class Moment(NamedTuple):
    """One thing that happened: at an instant (ns; None: at rest), in a place among the things of that instant."""

    at_ns: int | None
    place: int
    who: str
    what: str


def operations(evidence: Evidence, where: str, *values: Scalar) -> set[Moment]:
    """Tell the operations that a condition picks: when each was sent and how it ended."""
    rows = evidence.records(
        f"""
        SELECT op, kind, subject, coalesce(quantity, 1) AS quantity, attempt, owner, node, intended_ns, sent_ns, done_ns,
            outcome, status, code, error, created, replayed
        FROM operations WHERE {where} ORDER BY coalesce(sent_ns, intended_ns), op LIMIT {OPERATIONS_MAX}
        """,
        *values,
    )
    moments: set[Moment] = set()
    for row in rows:
        who = f"{row['owner'] or 'a buyer'} (op {row['op']})"
        if row["sent_ns"] is None:
            moments.add(Moment(row["intended_ns"], SENT, who, f"means to send {_command(row)}"))
        elif row["done_ns"] is None:
            moments.add(Moment(row["sent_ns"], SENT, who, f"sends {_command(row)}, and {_answer(row)}"))
        else:
            moments.add(Moment(row["sent_ns"], SENT, who, f"sends {_command(row)}"))
            moments.add(Moment(row["done_ns"], TOLD, who, _answer(row)))
    return moments


def _command(row: dict[str, Any]) -> str:
    attempt = f", attempt {row['attempt']}" if (row["attempt"] or 1) > 1 else ""
    quantity = f" × {row['quantity']}" if row["quantity"] != 1 else ""
    node = f" to node {row['node']}" if row["node"] else ""
    return f"{row['kind']} on #{row['subject']}{quantity}{node}{attempt}"


def _answer(row: dict[str, Any]) -> str:
    if row["outcome"] == "info":
        why = row["error"] or row["status"]
        return f"never learns what became of it{f' ({why})' if why else ''}"
    status = f" {row['status']}" if row["status"] else ""
    code = f" {row['code']}" if row["code"] else ""
    word = WORDS[CREATES[row["kind"]]] if row["kind"] in CREATES else row["kind"]
    made = f", {word} {row['created']}" if row["created"] else ""
    again = ", replayed" if row["replayed"] else ""
    return f"is told {row['outcome']}{status}{code}{made}{again}"


def effects(evidence: Evidence, effect: str) -> set[Moment]:
    """Tell the first times that a provider was sent something under an id, and what it answered."""
    rows = evidence.rows(
        f"""
        SELECT received_ns, provider, answer FROM effects WHERE effect = ?
        ORDER BY received_ns, provider, answer LIMIT {EFFECTS_MAX}
        """,
        effect,
    )
    return {
        Moment(received_ns, TAKEN, f"provider {provider}", f"is sent {effect}: {answer}")
        for received_ns, provider, answer in rows
    }


def claims(evidence: Evidence, resource: str, until_lsn: int) -> set[Moment]:
    """Tell how a resource came to be claimed as it was at a commit: the last commits, and who was behind them."""
    rows = evidence.rows(
        f"""
        SELECT o.commit_lsn, o.moved, o.claimed, o.capacity, o.occupied, t.commit_ns, t.xid
        FROM occupancy o JOIN transactions t ON t.commit_lsn = o.commit_lsn
        WHERE o.resource = ? AND o.commit_lsn <= ? AND (o.moved <> 0 OR o.occupied <> o.claimed OR o.commit_lsn = ?)
        ORDER BY o.commit_lsn DESC LIMIT {COMMITS_MAX}
        """,
        resource,
        until_lsn,
        until_lsn,
    )
    moments: set[Moment] = set()
    for lsn, moved, claimed, capacity, occupied, commit_ns, xid in rows:
        counter = f", counted {occupied}" if occupied is not None else ""
        moments.add(
            Moment(commit_ns, COMMITTED, f"commit{by(xid)}", f"{_step(moved, claimed, capacity)}{counter}")
        )
        for (op,) in evidence.rows(
            "SELECT DISTINCT op FROM operation_commits WHERE commit_lsn = ? ORDER BY op LIMIT 1", lsn
        ):
            moments |= operations(evidence, "op = ?", op)
    return moments


def _step(moved: int, claimed: int, capacity: int | None) -> str:
    of = f" of {capacity}" if capacity is not None else ""
    return f"{moved:+d} → {claimed}{of} claimed" if moved else f"{claimed}{of} claimed"


def room(evidence: Evidence, resource: str, since_ns: int, until_ns: int | None) -> set[Moment]:
    """Tell the commits that made room and took it, around the span in which there certainly was room."""
    who = f"resource {resource}"
    if since_ns > 0:
        moments = {Moment(since_ns, SINCE, who, "certainly has room from here on")}
    else:
        moments = {Moment(evidence.brief.t0_ns, BEFORE, who, "has had room since before the load")}
    if until_ns is not None:
        moments.add(Moment(until_ns, UNTIL, who, "may be full again from here on"))
    rows = evidence.rows(
        f"""
        SELECT o.moved, o.claimed, o.capacity, v.commit_ns, t.xid FROM occupancy o
        JOIN visible v ON v.commit_lsn = o.commit_lsn JOIN transactions t ON t.commit_lsn = o.commit_lsn
        WHERE o.resource = ? AND v.commit_ns <= coalesce(?, v.commit_ns) ORDER BY o.commit_lsn DESC LIMIT {COMMITS_MAX}
        """,
        resource,
        until_ns,
    )
    for moved, claimed, capacity, commit_ns, xid in rows:
        what = f"{moved:+d} → {claimed} of {capacity} claimed"
        moments.add(Moment(commit_ns, COMMITTED, f"commit{by(xid)}", what))
    return moments


def by(xid: int | None) -> str:
    """Say which transaction it was."""
    return f" (xid {xid})" if xid is not None else ""
