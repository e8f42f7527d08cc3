"""What PostgreSQL's `pgoutput` plugin says, as frozen structs: the messages of protocol version 1.

Source: PostgreSQL documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal

import msgspec


class Unchanged(Enum):
    """The one value of a column whose TOASTed value was not touched and therefore not sent."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
Value = str | bytes | None | Literal[Unchanged.UNCHANGED]
Row = tuple[Value, ...]


class Begin(msgspec.Struct, frozen=True):
    """A transaction starts; its commit LSN and time are known already, since only committed ones are sent."""

    commit_lsn: int
    commit_time: int  # µs since 2000-01-01 UTC
    xid: int


class Commit(msgspec.Struct, frozen=True):
    """A transaction ends; `end_lsn` is the first byte after its commit record."""

    commit_lsn: int
    end_lsn: int
    commit_time: int  # µs since 2000-01-01 UTC


class Column(msgspec.Struct, frozen=True):
    """A column as a Relation message names it; `in_key` says whether the replica identity holds it."""

    name: str
    in_key: bool
    type_oid: int


class Relation(msgspec.Struct, frozen=True):
    """What a table looks like from here on; sent before its first change and again after each DDL."""

    oid: int
    schema: str  # empty: pg_catalog
    name: str
    identity: str  # d(efault), n(othing), f(ull), i(ndex)
    columns: tuple[Column, ...]


class Insert(msgspec.Struct, frozen=True):
    """A new row."""

    relation: int
    new: Row


class Update(msgspec.Struct, frozen=True):
    """A changed row: `old` is there under REPLICA IDENTITY FULL, `old_key` when the key itself changed."""

    relation: int
    new: Row
    old: Row | None
    old_key: Row | None


class Delete(msgspec.Struct, frozen=True):
    """A removed row: whole under REPLICA IDENTITY FULL, else its key columns with the others null."""

    relation: int
    old: Row | None
    old_key: Row | None


class Truncate(msgspec.Struct, frozen=True):
    """Some tables emptied at once."""

    relations: tuple[int, ...]
    cascade: bool
    restart_identity: bool


class Type(msgspec.Struct, frozen=True):
    """The name of a type that is not built in."""

    oid: int
    schema: str
    name: str


class Origin(msgspec.Struct, frozen=True):
    """The transaction was replicated here from elsewhere."""

    commit_lsn: int
    name: str


class Message(msgspec.Struct, frozen=True):
    """A message written by pg_logical_emit_message."""

    transactional: bool
    lsn: int
    prefix: str
    content: bytes


AnyMessage = Begin | Commit | Relation | Insert | Update | Delete | Truncate | Type | Origin | Message
