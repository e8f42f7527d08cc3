"""The witness: the few operations, commits and rows that prove one counter-example, told in the order of time.

It is found from the columns that a counter-example shows, so that an invariant of a user's own has one too. `op` and `key`
name operations, `hold`, `reservation`, `entry`, `offer`, `delivery`, `slot`, or `id` with `kind`, name rows; `resource` names
what they are about. Each `…_lsn` names a commit, `at_ns` and each other `…_ns` an instant, `fault` a fault. A column that
bears such a name and means something else is shown, and tells nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from checker.bands import FOR_EVER_NS, at_ms, in_force, line
from checker.images import LATEST_LSN, changed, rows
from checker.moments import (
    BEFORE,
    COMMITTED,
    SINCE,
    TAKEN,
    WORDS,
    Moment,
    claims,
    effects,
    operations,
    room,
)
from checker.verdict import WitnessLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.bands import Band
    from checker.evidence import Evidence

LINES_MAX: Final = 12
FAULTS_MAX: Final = 3
RUN_NS_MAX: Final = 86_400 * 10**9
"""No load lasts longer than a day: what is farther from t₀ is no instant of a run, but a length of time or none at all."""

COMMIT_NS: Final = "SELECT commit_ns FROM transactions WHERE commit_lsn = ? AND commit_ns IS NOT NULL"

_ROLES: Final = {
    "hold": "holds",
    "reservation": "reservations",
    "entry": "waitlist_entries",
    "offered_to": "waitlist_entries",
    "passed_over": "waitlist_entries",
    "waiting": "waitlist_entries",
    "offer": "offers",
    "delivery": "outbox",
    "slot": "leader_leases",
}
_KEYED: Final = ("holds", "reservations", "waitlist_entries")
_OWNED: Final = (*_KEYED, "offers")


def witness(evidence: Evidence, example: dict[str, Any]) -> tuple[WitnessLine, ...]:
    """Return the story of one counter-example in at most a dozen lines, the last of which says what is wrong.

    Faults that were in force between its first and its last moment stand among its lines, each where it began.
    """
    commits = [value for name in example if name.endswith("_lsn") and (value := _whole(example, name))]
    until_lsn = max(commits, default=LATEST_LSN)
    moments = {*_named(evidence, example, until_lsn), *_asked(evidence, example, until_lsn)}
    moments |= _of_resource(evidence, example, until_lsn, alone=not moments)
    for lsn in commits:
        told = {moment.at_ns for moment in moments if moment.place == COMMITTED}
        if any(at_ns not in told for (at_ns,) in evidence.rows(COMMIT_NS, lsn)):
            moments |= changed(evidence, lsn, _text(example, "resource"))
    last = _last(evidence, example, commits, moments)
    return _told(evidence, moments, _bands(evidence, example, moments, last), last)


def _text(example: dict[str, Any], name: str) -> str | None:
    """Return what a column names: an id, a key and an owner are text in all evidence."""
    value = example.get(name)
    return value if isinstance(value, str) else None


def _whole(example: dict[str, Any], name: str) -> int | None:
    """Return a number of a column that one can be of; anything else under its name means something else."""
    value = example.get(name)
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST_LSN
    return value if known else None


def _named(evidence: Evidence, example: dict[str, Any], until_lsn: int) -> Iterator[Moment]:
    """Tell the rows that columns name, what a provider was sent of them, and who asked for a place in the line."""
    for role, table in _ROLES.items():
        named = _text(example, role)
        # Several ids may stand in one column.
        for name in dict.fromkeys([named, *named.split(", ")] if named else []):
            yield from rows(evidence, (table,), "id = ?", name, until_lsn=until_lsn)
            if role == "delivery":
                yield from effects(evidence, name)
            if role in ("offered_to", "passed_over", "waiting"):
                yield from operations(evidence, "kind = 'join_waitlist' AND created = ?", name)
    if (term := _whole(example, "running_term")) is not None:
        yield from rows(evidence, ("leader_leases",), "term = ?", term, until_lsn=until_lsn)
    if row := _text(example, "id"):
        yield from _by_id(evidence, example, row, until_lsn)


def _by_id(evidence: Evidence, example: dict[str, Any], row: str, until_lsn: int) -> Iterator[Moment]:
    """Tell the row of an id, which means one only within a table: that of its kind, or that which such operations end."""
    kind = _text(example, "kind")
    if kind in WORDS:
        yield from rows(evidence, (kind,), "id = ?", row, until_lsn=until_lsn)
    elif kind in ("idempotency_records", "idempotency_answers"):
        yield from operations(evidence, "key = ?", row)
    else:
        for (table,) in evidence.rows("SELECT source FROM ends WHERE kind = ?", kind):
            yield from rows(evidence, (table,), "id = ?", row, until_lsn=until_lsn)
        if example.get("op") is None:
            yield from operations(evidence, "kind = ? AND subject = ? AND outcome <> 'fail'", kind, row)


def _asked(evidence: Evidence, example: dict[str, Any], until_lsn: int) -> Iterator[Moment]:
    """Tell the operations that columns name, and what came of a key."""
    op, key, tenant = _whole(example, "op"), _text(example, "key"), _text(example, "tenant")
    if op is not None:
        yield from operations(evidence, "op = ?", op)
    if key is not None:
        of_it = "key = ? AND coalesce(tenant = ?, true)"
        yield from operations(evidence, of_it, key, tenant)
        yield from rows(evidence, _KEYED, of_it, key, tenant, until_lsn=until_lsn)


def _of_resource(evidence: Evidence, example: dict[str, Any], until_lsn: int, *, alone: bool) -> set[Moment]:
    """Tell what proves something about a resource; its last commits only where nothing else is named."""
    resource, owner = _text(example, "resource"), _text(example, "owner")
    if resource is None:
        return set()
    since_ns = example.get("free_since_ns")
    if isinstance(since_ns, int) and since_ns <= FOR_EVER_NS:
        return room(evidence, resource, since_ns, _whole(example, "free_until_ns"))
    if owner is not None and (his := set(_gains(evidence, resource, owner, until_lsn))):
        return his
    if not alone:
        # Where no trail tells of commits, what others were told of it is all there is.
        (commits,) = evidence.row("SELECT count(*) FROM transactions")
        return set() if commits else operations(evidence, "subject = ? AND outcome = 'ok'", resource)
    moments = claims(evidence, resource, until_lsn)
    if isinstance(example.get("waiting"), int):
        # How many wait is no row, but the first of them proves that somebody does.
        first = "SELECT arg_min(id, joined_lsn) FROM waits WHERE resource = ? AND joined_lsn <= ? AND left_lsn > ?"
        (entry,) = evidence.row(first, resource, until_lsn, until_lsn)
        moments |= rows(evidence, ("waitlist_entries",), "id = ?", entry, until_lsn=until_lsn)
    return moments


def _gains(evidence: Evidence, resource: str, owner: str, until_lsn: int) -> Iterator[Moment]:
    """Tell what one owner has of a resource, and how they asked for it; a person may be kept under several owners."""
    his = """subject = ? AND kind IN ('hold', 'join_waitlist') AND outcome <> 'fail'
        AND (owner = ? OR concat_ws('/', tenant, owner) = ?)"""
    yield from operations(evidence, his, resource, owner, owner)
    told = f"SELECT created FROM operations WHERE created IS NOT NULL AND {his}"
    yield from rows(
        evidence,
        _OWNED,
        f"resource = ? AND (owner = ? OR id IN ({told}))",
        resource,
        owner,
        resource,
        owner,
        owner,
        until_lsn=until_lsn,
    )


def _last(evidence: Evidence, example: dict[str, Any], commits: list[int], moments: set[Moment]) -> Moment:
    """Say what is wrong, at the moment at which it was: at rest where no operation, no delivery and no instant is."""
    told = {
        name: value
        for name, value in example.items()
        if value is not None and not name.endswith(("_ns", "_lsn"))
    }
    said = ", ".join(f"{name} {value}" for name, value in told.items())
    known = [*_instants(evidence, example)]
    for lsn in commits:
        known += [at_ns for (at_ns,) in evidence.rows(COMMIT_NS, lsn)]
    happened = (
        known
        or any(example.get(name) is not None for name in ("op", "key"))
        or any(moment.place == TAKEN for moment in moments)
    )
    if not happened or any(moment.at_ns is None for moment in moments):
        return Moment(None, 0, "in sum", said)
    told_at = [moment.at_ns for moment in moments if moment.at_ns is not None]
    return Moment(max([*known, *told_at], default=None), 0, "in sum", said)


def _instants(evidence: Evidence, example: dict[str, Any]) -> Iterator[int]:
    """Give the instants of a run that columns name."""
    zero = evidence.brief.t0_ns
    for name in example:
        at_ns = _whole(example, name) if name.endswith("_ns") else None
        if at_ns is not None and (name == "at_ns" or zero <= at_ns <= zero + RUN_NS_MAX):
            yield at_ns


def _bands(evidence: Evidence, example: dict[str, Any], moments: set[Moment], last: Moment) -> list[Band]:
    """Find the faults that were in force between the first and the last moment, and the one that is named."""
    dated = [
        moment.at_ns for moment in (*moments, last) if moment.at_ns is not None and moment.place != BEFORE
    ]
    return in_force(
        evidence,
        min(dated, default=None),
        last.at_ns,
        named=_text(example, "fault"),
        healed_ns=_whole(example, "healed_ns"),
    )


def _told(
    evidence: Evidence, moments: set[Moment], bands: list[Band], last: Moment
) -> tuple[WitnessLine, ...]:
    """Order the moments, drop the middle of what is too long, put the faults among them, and end with what is wrong."""
    shown = bands[-FAULTS_MAX:]
    ordered = sorted(moments, key=lambda moment: (moment.at_ns is None, moment.at_ns or 0, *moment[1:]))
    left = LINES_MAX - 1 - len(shown)
    if len(ordered) > left:
        left_out = len(ordered) - left + 1
        head = left // 2
        middle = Moment(ordered[head].at_ns, SINCE, "…", f"{left_out} more")
        ordered = [*ordered[:head], middle, *ordered[head + left_out :]]
    zero = evidence.brief.t0_ns
    lines = [line(band, zero) for band in shown]
    lines += [_line(moment, zero) for moment in ordered]
    # As each of the two stands in its order already, only the instant counts.
    lines.sort(key=lambda told: (told.at_ms is None, told.at_ms or 0.0))
    return (*lines, _line(last, zero))


def _line(moment: Moment, zero_ns: int) -> WitnessLine:
    return WitnessLine(at_ms=at_ms(moment.at_ns, zero_ns), who=moment.who, what=moment.what)
