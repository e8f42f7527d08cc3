"""Reads journals into the history: one Arrow row an operation, in the shape of checker.schemas.OPERATIONS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from checker.schemas import OPERATIONS
from scenarios import journal
from scenarios.journal import Failure, Header, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Slots = NDArray[np.void]

_SLOT = np.dtype(
    [
        ("kind", "<u2"),
        ("node", "<u2"),
        ("tenant", "<u2"),
        ("attempt", "<u2"),
        ("arrival", "<i8"),
        ("race", "<i8"),
        ("quantity", "<i8"),
        ("intended_ns", "<i8"),
        ("sent_ns", "<i8"),
        ("key", f"S{journal.KEY_BYTES}"),
        ("owner", f"S{journal.OWNER_BYTES}"),
        ("subject", f"S{journal.SUBJECT_BYTES}"),
        ("request_digest", f"V{journal.DIGEST_BYTES}"),
        ("unused", "<u4"),
        ("invoked", "<u4"),
        ("outcome", "u1"),
        ("failure", "u1"),
        ("replayed", "u1"),
        ("admission", "u1"),
        ("status", "<i4"),
        ("done_ns", "<i8"),
        ("code", f"S{journal.CODE_BYTES}"),
        ("created", f"S{journal.CREATED_BYTES}"),
        ("body_digest", f"V{journal.DIGEST_BYTES}"),
        ("unused_too", "<u4"),
        ("completed", "<u4"),
    ]
)
_OUTCOMES = ("", *(outcome.name.lower() for outcome in Outcome))
_FAILURES = tuple(failure.name.lower() for failure in Failure)


class JournalUnreadable(Exception):  # noqa: N818 — the sentence is the message
    """A journal cannot be trusted; says which file and what is wrong with it."""


def read_journal(path: Path) -> pa.Table:
    """Return the operations of one journal; raises JournalUnreadable on a foreign, truncated or damaged file.

    An invocation torn at the very end, by a kill in the middle of its copy, never left and is dropped; a torn
    completion leaves its operation `info`, as does a missing one.
    """
    return _table(*_read(path))


def _read(path: Path) -> tuple[Header, Slots]:
    raw = path.read_bytes()
    header = _header(path, raw)
    slots = np.frombuffer(raw, dtype=_SLOT, count=header.capacity, offset=journal.HEADER_BYTES)
    return header, slots[: _written(path, slots)]


def gather(folder: Path) -> pa.Table:
    """Return the history of all journals of a run folder, shard by shard; raises JournalUnreadable."""
    parts = sorted((folder / "journal").glob("*.bin"))
    if not parts:
        raise JournalUnreadable(f"no journal in {folder / 'journal'}: the load never started")
    return pa.concat_tables([read_journal(part) for part in parts])


def admissions(folder: Path) -> Iterator[tuple[int, str, str]]:
    """Yield of each answered command when it was sent (ns), its node, and who let it in, where the answer said so.

    Raises JournalUnreadable.
    """
    for path in sorted((folder / "journal").glob("*.bin")):
        header, slots = _read(path)
        told = slots[(slots["completed"] == journal.COMPLETED) & (slots["admission"] > 0)]
        for sent_ns, node, place in zip(told["sent_ns"], told["node"], told["admission"], strict=True):
            yield int(sent_ns), header.nodes[int(node)], header.admissions[int(place) - 1]


def write_history(folder: Path) -> int:
    """Write operations.parquet from the run folder's journals and return how many operations it holds."""
    table = gather(folder)
    pq.write_table(table, folder / "operations.parquet", compression="zstd")
    return int(table.num_rows)


def _header(path: Path, raw: bytes) -> Header:
    if len(raw) < journal.HEADER_BYTES:
        raise JournalUnreadable(f"{path} is truncated: {len(raw)} bytes are not even its header")
    magic, version, slot_bytes, capacity, length = journal.preamble(raw)
    if magic != journal.MAGIC:
        raise JournalUnreadable(f"{path} is no journal of a load process: it begins with {magic!r}")
    if version != journal.VERSION or slot_bytes != journal.SLOT_BYTES:
        raise JournalUnreadable(
            f"{path} has version {version} with slots of {slot_bytes} bytes, not {journal.VERSION}"
        )
    expected = journal.HEADER_BYTES + capacity * slot_bytes
    if len(raw) != expected:
        raise JournalUnreadable(
            f"{path} is truncated: {len(raw)} bytes where {capacity} slots need {expected}"
        )
    try:
        return msgspec.json.decode(raw[journal.PREAMBLE_BYTES : journal.PREAMBLE_BYTES + length], type=Header)
    except msgspec.MsgspecError as error:
        raise JournalUnreadable(f"{path} has a damaged header: {error}") from error


def _written(path: Path, slots: Slots) -> int:
    """Count the slots in use, refusing a gap: one writer fills them in order, so a hole means damage."""
    marks = slots["invoked"]
    written = int(np.count_nonzero(marks == journal.INVOKED))
    if np.any(marks[:written] != journal.INVOKED):
        hole = int(np.argmax(marks[:written] != journal.INVOKED))
        raise JournalUnreadable(f"{path} is damaged: slot {hole} is torn, yet later ones are written")
    known = (marks == journal.INVOKED) | (marks == 0)
    if np.count_nonzero(~known) > 0:
        raise JournalUnreadable(f"{path} is damaged: slot {int(np.argmax(~known))} bears a foreign mark")
    return written


def _table(header: Header, slots: Slots) -> pa.Table:
    ended = slots["completed"] == journal.COMPLETED
    count = len(slots)
    columns: dict[str, pa.Array] = {
        "op": pa.array(np.arange(count, dtype=np.int64) + (header.shard << journal.SHARD_SHIFT)),
        "shard": pa.array(np.full(count, header.shard, dtype=np.int32)),
        "arrival": pa.array(slots["arrival"]),
        "race": _numbers(slots["race"], slots["race"] == journal.NOTHING),
        "attempt": pa.array(slots["attempt"].astype(np.int32)),
        "kind": _names(header.kinds, slots["kind"]),
        "node": _names(header.nodes, slots["node"]),
        "tenant": _names(header.tenants, slots["tenant"]),
        "owner": _texts(slots["owner"]),
        "subject": _texts(slots["subject"]),
        "quantity": pa.array(slots["quantity"]),
        "key": _texts(slots["key"]),
        "request_digest": _hex(slots["request_digest"]),
        "intended_ns": pa.array(slots["intended_ns"]),
        "sent_ns": _numbers(slots["sent_ns"], slots["sent_ns"] == 0),
        "done_ns": _numbers(slots["done_ns"], ~ended),
        "outcome": _names(_OUTCOMES, np.where(ended, slots["outcome"], Outcome.INFO)),
        "status": _numbers(slots["status"], ~ended | (slots["status"] == 0)),
        "code": _texts(slots["code"], ~ended),
        "replayed": pa.array(slots["replayed"] == 1, mask=~ended | (slots["replayed"] > 1)),
        "created": _texts(slots["created"], ~ended),
        "body_digest": _hex(slots["body_digest"], ~ended | (slots["status"] == 0)),
        "error": _named_failures(slots["failure"], ended),
    }
    return pa.table(columns).cast(OPERATIONS)


def _numbers(values: NDArray[Any], absent: NDArray[np.bool_]) -> pa.Array:
    return pa.array(values, mask=absent)


def _names(names: tuple[str, ...], indexes: NDArray[Any]) -> pa.Array:
    return pa.array(names, type=pa.string()).take(pa.array(indexes.astype(np.int64)))


def _texts(values: NDArray[np.bytes_], absent: NDArray[np.bool_] | None = None) -> pa.Array:
    empty = values == b""
    masked = empty if absent is None else empty | absent
    return pa.array(np.ascontiguousarray(values), type=pa.binary(), mask=masked).cast(pa.string())


def _hex(values: NDArray[np.void], absent: NDArray[np.bool_] | None = None) -> pa.Array:
    nibbles = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    raw = np.frombuffer(np.ascontiguousarray(values).tobytes(), dtype=np.uint8)
    text = np.empty(raw.size * 2, dtype=np.uint8)
    text[0::2], text[1::2] = nibbles[raw >> 4], nibbles[raw & 15]
    return pa.array(text.view(f"S{2 * journal.DIGEST_BYTES}"), type=pa.binary(), mask=absent).cast(
        pa.string()
    )


def _named_failures(failures: NDArray[Any], ended: NDArray[np.bool_]) -> pa.Array:
    """Name why an answer is missing; an operation that never ended was cut short with its load process."""
    named = np.where(ended, failures, Failure.STOPPED)
    return pa.array(_FAILURES, type=pa.string()).take(
        pa.array(named.astype(np.int64), mask=named == Failure.NONE)
    )
