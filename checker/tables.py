"""What the tables under test look like: the columns that the trail and the state both print, and their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from checker.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    import asyncpg


class UnknownTableError(LookupError):
    """A table or a key column that the database does not have."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table under test; `name` is the target's word for it, `schema` and `relation` are the database's."""

    name: str
    schema: str
    relation: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    unfit: str | None = None  # why its trail cannot be read, or publishing it would break its UPDATEs

    @property
    def quoted(self) -> str:
        """The table's name as SQL."""
        return f"{quote(self.schema)}.{quote(self.relation)}"


# The columns that pgoutput sends: since 18 a publication may include stored generated ones.
_COLUMNS = """
SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
  AND (attgenerated = '' OR attgenerated = 's' AND current_setting('server_version_num')::int >= 180000)
"""

_FIND = """
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation, c.relreplident::text AS identity
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND c.relname = $2 AND n.nspname = coalesce($1, n.nspname)
  AND ($1 IS NOT NULL OR n.nspname NOT IN ('pg_catalog', 'information_schema'))
ORDER BY (n.nspname = 'public') DESC, n.nspname
LIMIT 1
"""

_PRIMARY_KEY = """
SELECT array_agg(a.attname::text ORDER BY k.place)
FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = $1 AND i.indisprimary AND k.place <= i.indnkeyatts
"""

# UPDATE and DELETE are refused by PostgreSQL on a published table that has no usable replica identity.
_UNFIT = """
SELECT CASE
  WHEN c.relreplident = 'n' THEN 'its replica identity is NOTHING'
  WHEN c.relreplident = 'd' AND NOT EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate AND i.indisvalid)
    THEN 'it has neither a primary key nor another replica identity'
  WHEN c.relreplident = 'i' AND NOT EXISTS (
    SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisreplident AND i.indisvalid)
    THEN 'the index of its replica identity is gone'
  WHEN c.relreplident = 'f' AND EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated = 'v' AND NOT a.attisdropped)
    THEN 'its replica identity is FULL and it has a virtual generated column'
  WHEN c.relpersistence <> 'p' THEN 'it is unlogged or temporary'
END FROM pg_class c WHERE c.oid = $1
"""


# The columns by which a DELETE names its row.
_IDENTITY = """
SELECT array_agg(a.attname::text)
FROM pg_class c
JOIN pg_index i ON i.indrelid = c.oid
  AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident END
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int2[])
WHERE c.oid = $1
"""


async def describe(
    connection: asyncpg.Connection, tables: Mapping[str, tuple[str, ...]]
) -> tuple[Table, ...]:
    """Look tables up, each given with its key columns (none: its primary key).

    A name is `relation` or `schema.relation`, spelled as the database spells it; without a schema `public` is
    preferred. Raises UnknownTableError for a table, a key column, or a key that is not there.
    """
    return tuple([await _describe(connection, name, key) for name, key in tables.items()])


async def _describe(connection: asyncpg.Connection, name: str, key: tuple[str, ...]) -> Table:
    schema, dot, relation = name.partition(".")
    found = await connection.fetchrow(_FIND, schema if dot else None, relation if dot else name)
    if found is None:
        raise UnknownTableError(f"the database has no table {name!r}")
    columns = tuple(await connection.fetchval(_COLUMNS, found["oid"]) or ())
    key = key or tuple(await connection.fetchval(_PRIMARY_KEY, found["oid"]) or ())
    if not key:
        raise UnknownTableError(f"table {name!r} has no primary key, and no key columns were named for it")
    if absent := [column for column in key if column not in columns]:
        raise UnknownTableError(f"table {name!r} has no column {absent[0]!r} to be known by")
    unfit = await connection.fetchval(_UNFIT, found["oid"])
    if unfit is None and found["identity"] != "f":
        identity = await connection.fetchval(_IDENTITY, found["oid"])
        if hidden := [column for column in key if column not in identity]:
            unfit = f"its replica identity does not tell the key column {hidden[0]!r} of a deleted row"
    return Table(
        name=name,
        schema=found["schema"],
        relation=found["relation"],
        columns=columns,
        key=key,
        unfit=unfit,
    )
