"""The messages of PostgreSQL's `pgoutput` plugin, protocol version 1, parsed from their bytes.

Source: PostgreSQL documentation, "Logical Replication Message Formats". Pure: bytes in, frozen structs out.
Bytes that are not a whole message raise PgoutputError with the offset at which they stopped making sense.
"""

from __future__ import annotations

from struct import Struct, error
from typing import TYPE_CHECKING, Final

from checker.trail.messages import (
    UNCHANGED,
    AnyMessage,
    Begin,
    Column,
    Commit,
    Delete,
    Insert,
    Message,
    Origin,
    Relation,
    Row,
    Truncate,
    Type,
    Update,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class PgoutputError(ValueError):
    """Bytes that are no pgoutput message; `offset` is where in the message they stopped making sense."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(f"{what} at byte {offset}")
        self.offset = offset


_BEGIN = Struct(">qqI")
_COMMIT = Struct(">Bqqq")
_U8 = Struct(">B")
_U16 = Struct(">H")
_U32 = Struct(">I")
_U64 = Struct(">q")
_COLUMN_TYPE = Struct(">Ii")

_TEXT, _NULL, _UNCHANGED, _BINARY = b"tnub"
_SENT = (_TEXT, _BINARY)


def parse(data: bytes) -> AnyMessage:
    """Parse one whole message; raises PgoutputError, and nothing else, on anything that is not one."""
    if not data:
        raise PgoutputError("an empty message", 0)
    reader = _READERS.get(data[0])
    if reader is None:
        raise PgoutputError(f"unknown message kind {data[:1]!r}", 0)
    message, at = reader(data)
    if at != len(data):
        raise PgoutputError(f"{len(data) - at} bytes more than the message has", at)
    return message


def _unpack(layout: Struct, data: bytes, at: int) -> tuple[int, ...]:
    try:
        return layout.unpack_from(data, at)
    except error:
        raise PgoutputError(f"cut short: {layout.size} bytes needed", at) from None


def _text(data: bytes, at: int) -> tuple[str, int]:
    """Read a zero-terminated name."""
    end = data.find(0, at)
    if end < 0:
        raise PgoutputError("a name without an end", at)
    return _utf8(data[at:end], at), end + 1


def _utf8(raw: bytes, at: int) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as cause:
        raise PgoutputError("not UTF-8", at + cause.start) from None


def _row(data: bytes, at: int) -> tuple[Row, int]:
    """Read a tuple of columns; the loop that the speed of decoding hangs on, so that it checks by what it raises."""
    (count,) = _unpack(_U16, data, at)
    at += 2
    start = at
    size = len(data)
    values: list[Value] = []
    try:
        for _ in range(count):
            kind = data[at]
            if kind in _SENT:
                start = at + 5
                at = start + _U32.unpack_from(data, at + 1)[0]
                raw = data[start:at]
                values.append(raw.decode() if kind == _TEXT else raw)
            elif kind == _NULL:
                values.append(None)
                at += 1
            elif kind == _UNCHANGED:
                values.append(UNCHANGED)
                at += 1
            else:
                raise PgoutputError(f"unknown column kind {kind}", at)
    except (IndexError, error):
        raise PgoutputError(f"cut short: column {len(values)} of {count}", min(at, size)) from None
    except UnicodeDecodeError as cause:
        raise PgoutputError("not UTF-8", start + cause.start) from None
    if at > size:
        raise PgoutputError(f"cut short: column {count - 1} of {count}", start)
    return tuple(values), at


def _begin(data: bytes) -> tuple[Begin, int]:
    lsn, time, xid = _unpack(_BEGIN, data, 1)
    return Begin(lsn, time, xid), 21


def _commit(data: bytes) -> tuple[Commit, int]:
    _flags, lsn, end, time = _unpack(_COMMIT, data, 1)
    return Commit(lsn, end, time), 26


def _relation(data: bytes) -> tuple[Relation, int]:
    (oid,) = _unpack(_U32, data, 1)
    schema, at = _text(data, 5)
    name, at = _text(data, at)
    (identity,) = _unpack(_U8, data, at)
    (count,) = _unpack(_U16, data, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        (flags,) = _unpack(_U8, data, at)
        column, at = _text(data, at + 1)
        type_oid, _modifier = _unpack(_COLUMN_TYPE, data, at)
        at += 8
        columns.append(Column(column, bool(flags & 1), type_oid))
    return Relation(oid, schema, name, chr(identity), tuple(columns)), at


def _insert(data: bytes) -> tuple[Insert, int]:
    (relation,) = _unpack(_U32, data, 1)
    _expect(data, 5, b"N")
    new, at = _row(data, 6)
    return Insert(relation, new), at


def _update(data: bytes) -> tuple[Update, int]:
    (relation,) = _unpack(_U32, data, 1)
    at = 5
    old: Row | None = None
    old_key: Row | None = None
    if data[at : at + 1] == b"O":
        old, at = _row(data, at + 1)
    elif data[at : at + 1] == b"K":
        old_key, at = _row(data, at + 1)
    _expect(data, at, b"N")
    new, at = _row(data, at + 1)
    return Update(relation, new, old, old_key), at


def _delete(data: bytes) -> tuple[Delete, int]:
    (relation,) = _unpack(_U32, data, 1)
    if data[5:6] == b"O":
        old, at = _row(data, 6)
        return Delete(relation, old, None), at
    _expect(data, 5, b"K")
    key, at = _row(data, 6)
    return Delete(relation, None, key), at


def _truncate(data: bytes) -> tuple[Truncate, int]:
    (count,) = _unpack(_U32, data, 1)
    (options,) = _unpack(_U8, data, 5)
    if 6 + 4 * count > len(data):
        raise PgoutputError(f"cut short: {count} tables", 6)
    relations = _unpack(Struct(f">{count}I"), data, 6)
    return Truncate(relations, bool(options & 1), bool(options & 2)), 6 + 4 * count


def _type(data: bytes) -> tuple[Type, int]:
    (oid,) = _unpack(_U32, data, 1)
    schema, at = _text(data, 5)
    name, at = _text(data, at)
    return Type(oid, schema, name), at


def _origin(data: bytes) -> tuple[Origin, int]:
    (lsn,) = _unpack(_U64, data, 1)
    name, at = _text(data, 9)
    return Origin(lsn, name), at


def _message(data: bytes) -> tuple[Message, int]:
    (flags,) = _unpack(_U8, data, 1)
    (lsn,) = _unpack(_U64, data, 2)
    prefix, at = _text(data, 10)
    (length,) = _unpack(_U32, data, at)
    at += 4
    if at + length > len(data):
        raise PgoutputError(f"cut short: a message of {length} bytes", at)
    return Message(bool(flags & 1), lsn, prefix, data[at : at + length]), at + length


def _expect(data: bytes, at: int, mark: bytes) -> None:
    if data[at : at + 1] != mark:
        raise PgoutputError(f"expected {mark!r}, found {data[at : at + 1]!r}", at)


_READERS: Final[dict[int, Callable[[bytes], tuple[AnyMessage, int]]]] = {
    ord("B"): _begin,
    ord("C"): _commit,
    ord("R"): _relation,
    ord("I"): _insert,
    ord("U"): _update,
    ord("D"): _delete,
    ord("T"): _truncate,
    ord("Y"): _type,
    ord("O"): _origin,
    ord("M"): _message,
}
