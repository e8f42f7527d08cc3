"""From spool to changes/<table>.parquet: whole transactions in commit order, every change once.

A change of a key is two changes: a D of the old key, then an I of the new row. On D only the key columns of `new_`
are filled; a T (truncate) has none. `position` counts all changes of the transaction in all tables from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard

import msgspec

from checker.trail.messages import UNCHANGED, Begin, Commit, Delete, Insert, Relation, Truncate, Update
from checker.trail.parts import Parts
from checker.trail.pgoutput import PgoutputError, parse
from checker.trail.record import TrailStatus
from checker.trail.snapshot import Snapshot
from checker.trail.spool import frames

if TYPE_CHECKING:
    from pathlib import Path

    from checker.tables import Table
    from checker.trail.messages import Row
    from checker.trail.parts import Values
    from checker.trail.record import TrailRecord
    from checker.trail.spool import Frame

SPOOL: Final = "spool/trail.bin"
_PG_EPOCH_US: Final = 946_684_800_000_000  # 2000-01-01 UTC, from which PostgreSQL counts
_TEXT_OR_NULL: Final = frozenset({str, type(None)})


class DecodeError(ValueError):
    """A spool whose frames do not make a trail; says which frame."""


def to_parquet(folder: Path, record: TrailRecord, *, into: Path | None = None) -> TrailRecord:
    """Decode a run folder's spool into changes/ (or `into`); returns the record with what was counted.

    Raises SpoolError and DecodeError on a damaged spool. A tail torn by a crash ends it; a trail that was drained has
    none, and is `broken` where fewer frames are left of it than were spooled.
    """
    into = into or folder / "changes"
    into.mkdir(parents=True, exist_ok=True)
    seen = Snapshot.parse(record.base_snapshot) if record.base_snapshot else None
    decoder = Decoder({(t.schema, t.relation): (t, Parts(t, into)) for t in record.tables}, seen)
    number = -1
    for number, frame in enumerate(frames(folder / SPOOL)):
        try:
            decoder.take(frame)
        except PgoutputError as damage:
            raise DecodeError(f"frame {number} of the spool: {damage}") from damage
    counts = {}
    for table, parts in decoder.tables.values():
        parts.finish(folder / "base" / f"{table.name}.parquet")
        counts[table.name] = parts.count
    if record.status is TrailStatus.DRAINED and number + 1 != record.frames:
        lost = f"its spool holds {number + 1} of the {record.frames} frames that were read"
        record = msgspec.structs.replace(record, status=TrailStatus.BROKEN, reason=lost)
    return msgspec.structs.replace(
        record,
        changes=counts,
        transactions=decoder.transactions,
        repeated=decoder.repeated,
        in_base=decoder.in_base,
    )


class Decoder:
    """Folds messages into changes; remembers only the current transaction and what each table looks like."""

    def __init__(self, tables: dict[tuple[str, str], tuple[Table, Parts]], in_base: Snapshot | None) -> None:
        self.tables = tables
        self.transactions = 0
        self.repeated = 0
        self.in_base = 0
        self._base = in_base
        self._shapes: dict[int, _Shape] = {}
        self._begin = Begin(0, 0, 0)
        self._position = 0
        self._committed = 0
        self._latest = (0, -1)  # commit LSN and position of the newest change taken
        self._skips = False

    def take(self, frame: Frame) -> None:
        """Take one frame; PgoutputError on bytes that are no message, DecodeError on one out of place."""
        message = parse(frame.data)
        match message:
            case Insert() | Update() | Delete():
                self._change(frame, message)
            case Begin():
                self._begin, self._position = message, 0
                self._skips = self._base is not None and self._base.sees(message.xid)
            case Commit():
                if message.commit_lsn != self._begin.commit_lsn:
                    raise DecodeError(
                        f"a commit at {message.commit_lsn} ends a transaction begun for another"
                    )
                self.transactions += message.commit_lsn > self._committed
                self._committed = max(self._committed, message.commit_lsn)
            case Relation():
                self._learn(message)
            case Truncate():
                for relation in message.relations:
                    self._emit(frame, self._shape(relation), "T", None)
            case _:
                pass

    def _learn(self, relation: Relation) -> None:
        columns = tuple(column.name for column in relation.columns)
        if known := self.tables.get((relation.schema, relation.name)):
            self._shapes[relation.oid] = _Shape(*known, columns)
        elif renamed := self._shapes.get(relation.oid):
            self._shapes[relation.oid] = _Shape(renamed.table, renamed.parts, columns)

    def _shape(self, oid: int) -> _Shape:
        try:
            return self._shapes[oid]
        except KeyError:
            raise DecodeError(f"a change of relation {oid}, which was never described") from None

    def _change(self, frame: Frame, change: Insert | Update | Delete) -> None:
        shape = self._shape(change.relation)
        if isinstance(change, Delete):
            self._emit(frame, shape, "D", shape.only_key(change.old or change.old_key or ()), change.old)
            return
        if isinstance(change, Insert):
            self._emit(frame, shape, "I", change.new)
            return
        new = change.new
        if UNCHANGED in new and change.old is not None:
            new = tuple(
                before if after is UNCHANGED else after for before, after in zip(change.old, new, strict=True)
            )
        before = change.old or change.old_key
        if before is not None and shape.key(before) != shape.key(new):
            self._emit(frame, shape, "D", shape.only_key(before), change.old)
            self._emit(frame, shape, "I", new)
        else:
            self._emit(frame, shape, "U", new, change.old)

    def _emit(
        self, frame: Frame, shape: _Shape, action: str, row: Row | None, old: Row | None = None
    ) -> None:
        begin, position = self._begin, self._position
        self._position += 1
        if self._skips:
            self.in_base += 1
            return
        # Commit LSNs only rise in what a slot gives: anything not beyond the newest is a repetition after a crash.
        if (begin.commit_lsn, position) <= self._latest:
            self.repeated += 1
            return
        self._latest = (begin.commit_lsn, position)
        head = (begin.commit_lsn, position, frame.lsn, begin.xid, begin.commit_time + _PG_EPOCH_US, action)
        shape.write(head, row, old)


class _Shape:
    """A table with the columns that its latest Relation message gave it."""

    def __init__(self, table: Table, parts: Parts, columns: tuple[str, ...]) -> None:
        self.table = table
        self.parts = parts
        self._columns = columns
        self._key = tuple(columns.index(column) for column in table.key if column in columns)
        self._nothing: Values = (None,) * len(columns)

    def key(self, row: Row) -> Row:
        """Return the key of a row."""
        return tuple(row[place] for place in self._key)

    def only_key(self, row: Row) -> Row:
        """Return the row with everything but its key null."""
        return tuple(value if place in self._key else None for place, value in enumerate(row))

    def write(self, head: tuple[int, int, int, int, int, str], row: Row | None, old: Row | None) -> None:
        """Hand one change on, in text and in the order of the columns, with the row before where it was told."""
        self.parts.reshape(self._columns)
        told = old if old is not None and _in_text(old) else None
        if row is None:
            self.parts.add(head, self._nothing)
        elif _in_text(row):
            self.parts.add(head, row, old=told)
        else:
            sent = tuple(None if value is UNCHANGED else value for value in row)
            if not _in_text(sent):
                raise DecodeError(f"a binary value in {self.table.name}, where text was asked for")
            lacking = [name for name, value in zip(self._columns, row, strict=True) if value is UNCHANGED]
            self.parts.add(head, sent, lacking, old=told)


def _in_text(row: Row) -> TypeGuard[Values]:
    return _TEXT_OR_NULL.issuperset(map(type, row))
