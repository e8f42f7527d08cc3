"""The rows of a witness: how each came to be and what became of it, commit by commit, as far as that proves anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from checker.moments import BEFORE, COMMITTED, WORDS, Moment, by

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.evidence import Evidence
    from checker.verdict import Scalar

LATEST_LSN: Final = 2**64 - 1
"""Until when rows are told where no commit is named."""
IMAGES_MAX: Final = 48
CHANGED_MAX: Final = 4

_TOLD: Final = {
    "holds": "id, tenant, key, owner, resource, state, quantity, expires_us AS until_us",
    "reservations": "id, tenant, key, owner, resource, state, quantity",
    "waitlist_entries": "id, tenant, key, owner, resource, state, seq",
    "offers": "id, tenant, owner, resource, entry, state, quantity, expires_us AS until_us",
    "outbox": "delivery AS id, tenant, entry, state, attempts, "
    "CASE state WHEN 'CLAIMED' THEN claimed_until_us WHEN 'PENDING' THEN next_us END AS until_us",
    "leader_leases": "slot AS id, holder AS state, term, expires_us AS until_us",
    "resources": "id, tenant, id AS resource, state, capacity, occupied",
}
"""What a row of each table is known by and told as."""

# What a table lacks of what another has is null.
_BLANK: Final = f"""
SELECT {
    ", ".join(
        f"CAST(NULL AS VARCHAR) AS {name}"
        for name in ("source", "row_key", "id", "tenant", "key", "owner", "resource", "entry", "state")
    )
},
    {
    ", ".join(
        f"CAST(NULL AS BIGINT) AS {name}"
        for name in ("quantity", "seq", "attempts", "term", "capacity", "occupied", "until_us", "commit_us")
    )
},
    CAST(NULL AS UBIGINT) AS commit_lsn, true AS present
WHERE false
"""

# A deadline is of the database's clock, and is told by that clock as it stood at the commit.
_DATED: Final = """
SELECT n.*, t.commit_ns, t.xid, n.until_us * 1000 - coalesce(
    t.commit_us * 1000 - t.commit_ns, (SELECT arg_min(ahead_ns, real_ns) FROM database_clock)
) AS until_ns
FROM ({images}) n LEFT JOIN transactions t ON t.commit_lsn = n.commit_lsn
"""

# How each row came to be, and its last changes until a commit. A lease is written again and again, and only who had it
# before is of any interest.
_STORY: Final = """
WITH images AS ({images}), meant AS (SELECT DISTINCT source, row_key FROM images WHERE {where})
SELECT i.* REPLACE (max(i.id) OVER row_of AS id),
    row_number() OVER (PARTITION BY i.source, i.row_key ORDER BY i.commit_lsn) AS nr,
    count(*) FILTER (i.commit_lsn <= ?) OVER row_of AS last_nr
FROM images i SEMI JOIN meant m ON m.source = i.source AND m.row_key = i.row_key
WINDOW row_of AS (PARTITION BY i.source, i.row_key)
QUALIFY nr = 1 AND i.source <> 'leader_leases'
    OR nr BETWEEN last_nr - CASE i.source WHEN 'leader_leases' THEN 1 ELSE 2 END AND last_nr
"""


def rows(
    evidence: Evidence, tables: Iterable[str], where: str, *values: Scalar, until_lsn: int
) -> set[Moment]:
    """Tell the rows that a condition picks, from how they came to be until a commit; where no trail does, as they are at rest."""
    story = _STORY.format(images=_images("commits", tables), where=where)
    told = evidence.records(
        f"{_DATED.format(images=story)} ORDER BY n.commit_lsn DESC, n.source, n.row_key LIMIT {IMAGES_MAX}",
        *values,
        until_lsn,
    )
    if not told and until_lsn == LATEST_LSN:
        rest = f"SELECT * FROM ({_images('state', tables)}) WHERE {where}"
        told = evidence.records(
            f"{_DATED.format(images=rest)} ORDER BY n.source, n.row_key LIMIT {IMAGES_MAX}", *values
        )
    return {_became(evidence, row) for row in told}


def changed(evidence: Evidence, commit_lsn: int, resource: str | None) -> set[Moment]:
    """Tell what a commit changed, of one resource where that is given: a few of its rows, and how many there were."""
    whole = evidence.rows("SELECT commit_ns, xid, changes FROM transactions WHERE commit_lsn = ?", commit_lsn)
    if not whole:
        return set()
    ((commit_ns, xid, changes),) = whole
    images = (
        f"SELECT * FROM ({_images('commits', _TOLD)}) WHERE commit_lsn = ? AND coalesce(resource = ?, true)"
    )
    told = evidence.records(
        f"""
        {_DATED.format(images=images)}
        ORDER BY list_position({list(_TOLD)}, n.source), n.id, n.row_key LIMIT {CHANGED_MAX + 1}
        """,
        commit_lsn,
        resource,
    )
    moments = {_became(evidence, row) for row in told[:CHANGED_MAX]}
    if len(told) > CHANGED_MAX or not told:
        moments.add(Moment(commit_ns, COMMITTED, f"commit{by(xid)}", f"changes {changes} rows in all"))
    return moments


def _images(schema: str, tables: Iterable[str]) -> str:
    head = "row_key, commit_lsn, commit_us, present" if schema == "commits" else "row_key"
    selects = (f"SELECT '{name}' AS source, {head}, {_TOLD[name]} FROM {schema}.{name}" for name in tables)
    return " UNION ALL BY NAME ".join((_BLANK, *selects))


def _became(evidence: Evidence, row: dict[str, Any]) -> Moment:
    """Say what a row is since a commit; dated at t₀ where it stood there before, and not at all where only its rest is known."""
    zero = evidence.brief.t0_ns
    who = f"{WORDS[row['source']]} {row['id'] or row['row_key']}"
    if not row["present"] and row["commit_lsn"] is not None:
        return Moment(row["commit_ns"], COMMITTED, who, f"is deleted{by(row['xid'])}")
    until = "" if row["until_ns"] is None else f"{(row['until_ns'] - zero) / 1e6:,.2f} ms"
    what = f"is {_described(row, until)}"
    if row["commit_lsn"] is None:
        return Moment(None, COMMITTED, who, what)
    if row["commit_ns"] is None:
        return Moment(zero, BEFORE, who, f"{what} since before the load")
    return Moment(row["commit_ns"], COMMITTED, who, f"{what}{by(row['xid'])}")


def _described(row: dict[str, Any], until: str) -> str:
    """Say in which state a row is, and what of it matters to a rule."""
    match row["source"]:
        case "leader_leases":
            said = f"held by {row['state']} in term {row['term']}"
        case "outbox":
            said = f"{row['state']}, {row['attempts'] or 0} attempt{'' if row['attempts'] == 1 else 's'}"
        case "resources":
            of = f" of {row['capacity']}" if row["capacity"] is not None else ""
            counted = f", {row['occupied']}{of} counted" if row["occupied"] is not None else ""
            said = f"{row['state'] or 'there'}{counted}"
        case "waitlist_entries":
            number = f", number {row['seq']}" if row["seq"] is not None else ""
            said = f"{row['state']} on {row['resource']}{number}"
        case _:
            said = f"{row['state']} on {row['resource']} × {row['quantity'] or 1}"
    if not until or (row["source"] in ("holds", "offers") and row["state"] != "ACTIVE"):
        return said
    return f"{said}, not before {until}" if row["state"] == "PENDING" else f"{said}, until {until}"
