"""The proof that a trail is whole, in two parts, each one DuckDB query a table; Python sees only what differs, capped.

base/ with changes/ folded over it by key equals state/, row by row. And each change follows from the one before it: no
row is made twice, or changed while it is not there, and where a change tells the row as it was (replica identity
FULL), that is the row as it was last seen. The fold alone would not see the loss of a change that a later one undid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from pyarrow import parquet as pq

from checker.quoting import literal, quote
from checker.state import SNAPSHOT_KEY
from checker.trail.parts import OLD, digest_sql
from checker.trail.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

ONLY_IN_TRAIL: Final = "only in the trail"
ONLY_IN_STATE: Final = "only in the state"
UNLINKED: Final = "a change before it is missing"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A row on which trail and state disagree: `how` says who lacks it, or names the columns that differ."""

    table: str
    key: tuple[str | None, ...]
    how: str


def differences(
    connection: duckdb.DuckDBPyConnection, folder: Path, table: str, key: Sequence[str], *, limit: int = 20
) -> list[Difference]:
    """Return up to `limit` rows on which the folded trail and the state of one table disagree; none proves it whole.

    Changes of transactions that the state's own snapshot did not see are left out: workers may write on while it is
    read. Raises FileNotFoundError where one of the three files is not in the folder.
    """
    files = {part: folder / part / f"{table}.parquet" for part in ("base", "changes", "state")}
    for file in files.values():
        if not file.is_file():
            raise FileNotFoundError(f"{file.parent.name}/{file.name} is not in the run folder")
    if not any(pq.read_metadata(file).num_rows for file in files.values()):
        return []
    state_columns = _own(files["state"])
    shared = [column for column in state_columns if column in _own(files["changes"])]
    alone = [column for column in state_columns if column not in shared]
    keys = [quote(f"new_{column}") for column in key]
    rows = connection.execute(
        _QUERY.format(
            key=", ".join(keys),
            columns=", ".join(quote(column) for column in shared),
            same_key=" AND ".join(f"t.{name} IS NOT DISTINCT FROM s.{name}" for name in keys),
            keys_shown=", ".join(f"coalesce(t.{name}, s.{name})" for name in keys),
            unequal=_unequal(shared, alone),
            only_in_trail=ONLY_IN_TRAIL,
            only_in_state=ONLY_IN_STATE,
            since=_SINCE_EMPTIED if _emptied(connection, files["changes"]) else "",
        ),
        {
            "past": [str(files["base"]), str(files["changes"])],
            "state": str(files["state"]),
            "limit": limit,
            **_seen_by(files["state"]),
        },
    ).fetchall()
    return [Difference(table=table, key=tuple(found), how=how) for how, *found in rows]


def broken_links(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    table: str,
    key: Sequence[str],
    columns: Sequence[str],
    *,
    limit: int = 20,
) -> list[Difference]:
    """Return up to `limit` rows of one table of which a change does not follow from the one before it.

    `columns` are the table's as they were described when the trail began. Raises FileNotFoundError as `differences` does.
    """
    files = [folder / part / f"{table}.parquet" for part in ("base", "changes")]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"{file.parent.name}/{file.name} is not in the run folder")
    if not any(pq.read_metadata(file).num_rows for file in files):
        return []
    there = pq.read_schema(files[1]).names
    own = [f"new_{column}" for column in columns]
    whole = bool(own) and OLD in there and all(name in there for name in own)
    keys = [quote(f"new_{column}") for column in key]
    rows = connection.execute(
        _LINKS.format(
            key=", ".join(keys),
            old=OLD if whole else "NULL::UBIGINT",
            digest=digest_sql(own) if whole else "NULL::UBIGINT",
            part=_PART if _emptied(connection, files[1]) else "0",
        ),
        {"past": [str(file) for file in files], "limit": limit},
    ).fetchall()
    return [Difference(table=table, key=tuple(found), how=UNLINKED) for found in rows]


# A change of the same row from the same place in the WAL is a frame spooled twice. Between two truncations
# a row's changes stand by themselves: one that was emptied away may be made anew.
_LINKS: Final = """
WITH past AS (
  SELECT {key}, commit_lsn, position, change_lsn, action, {old} AS old_digest,
         CASE WHEN action <> 'D' THEN {digest} END AS digest
  FROM read_parquet($past, union_by_name = true)
),
kept AS (SELECT *, {part} AS part FROM past WHERE action <> 'T'),
linked AS (
  SELECT *, lag(action) OVER row_of AS before, lag(digest) OVER row_of AS seen,
         change_lsn = lag(change_lsn) OVER row_of AS again
  FROM kept WINDOW row_of AS (PARTITION BY part, {key} ORDER BY commit_lsn, position)
)
SELECT {key} FROM linked
WHERE NOT coalesce(again, false) AND CASE action
    WHEN 'B' THEN false
    WHEN 'I' THEN before <> 'D'
    ELSE coalesce(before = 'D', true) OR old_digest <> seen
  END
ORDER BY ALL LIMIT $limit
"""


# How many truncations came before a change.
_PART: Final = """
  coalesce(len(list_filter(
    (SELECT list(row(commit_lsn, position)) FROM past WHERE action = 'T'),
    lambda place: place < row(commit_lsn, position))), 0)
"""

# A truncation empties what came before it. Where two rows claim one place (a frame spooled twice), either serves.
_QUERY: Final = """
WITH past AS (
  SELECT *,
         $xmax::BIGINT + ((xid::BIGINT - $xmax + 2147483648) % 4294967296 + 4294967296) % 4294967296 - 2147483648
           AS full_xid
  FROM read_parquet($past, union_by_name = true)
),
seen AS (
  SELECT * FROM past
  WHERE action = 'B' OR $everything OR (full_xid < $xmax AND NOT list_contains($running::BIGINT[], full_xid))
),
latest AS (
  SELECT * FROM seen
  WHERE action <> 'T' {since}
  QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY commit_lsn DESC, position DESC) = 1
),
t AS (SELECT {columns}, true AS here FROM latest WHERE action <> 'D'),
s AS (SELECT *, true AS here FROM read_parquet($state)),
compared AS (
  SELECT CASE WHEN s.here IS NULL THEN '{only_in_trail}' WHEN t.here IS NULL THEN '{only_in_state}' ELSE {unequal} END
         AS how, {keys_shown}
  FROM t FULL OUTER JOIN s ON {same_key}
)
SELECT * FROM compared WHERE how <> '' ORDER BY ALL LIMIT $limit
"""

_SINCE_EMPTIED: Final = """
  AND row(commit_lsn, position) > coalesce(
    (SELECT max(row(commit_lsn, position)) FROM seen WHERE action = 'T'), row(0::UBIGINT, -1::BIGINT))
"""


def _emptied(connection: duckdb.DuckDBPyConnection, changes: Path) -> bool:
    """Whether a table was truncated; so seldom that to plan for it each time takes more than to look."""
    looked = f"SELECT 1 FROM read_parquet({literal(changes)}) WHERE action = 'T' LIMIT 1"  # noqa: S608 — a path
    return connection.execute(looked).fetchone() is not None


def _unequal(shared: Sequence[str], alone: Sequence[str]) -> str:
    """Return SQL for the names of the columns that differ, '' where the rows are equal.

    A column that the trail never carried (added without a change of the row) can only be told equal where it is null.
    """
    names = [f"CASE WHEN t.{quote(c)} IS DISTINCT FROM s.{quote(c)} THEN {_shown(c)} END" for c in shared]
    names += [f"CASE WHEN s.{quote(c)} IS NOT NULL THEN {_shown(c)} END" for c in alone]
    return f"concat_ws(', ', {', '.join(names)})"


def _shown(column: str) -> str:
    return literal(column.removeprefix("new_"))


def _own(file: Path) -> list[str]:
    return [name for name in pq.read_schema(file).names if name.startswith("new_")]


def _seen_by(state: Path) -> dict[str, object]:
    """Return the limits of what the state's snapshot saw; a state without one saw everything."""
    text = (pq.read_schema(state).metadata or {}).get(SNAPSHOT_KEY)
    if text is None:
        return {"everything": True, "xmax": 0, "running": []}
    snapshot = Snapshot.parse(text.decode())
    return {"everything": False, "xmax": snapshot.xmax, "running": sorted(snapshot.running)}
