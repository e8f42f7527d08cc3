"""The journal: one fixed slot an operation in a preallocated shared memory map, written as things happen.

The invocation is written before the request's first byte leaves and the completion when its answer is read, each in a
single copy that ends with a mark. The pages belong to the kernel, so a killed load process loses nothing that it had
sent. Free of Locust, gevent and Arrow; `scenarios.history` reads it.
"""

from __future__ import annotations

import mmap
import os
from enum import IntEnum
from hashlib import blake2b
from struct import Struct
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"LASTSEAT JOURNAL"
VERSION = 1
HEADER_BYTES = 4096
INVOKED = 0x1B0CA11D
COMPLETED = 0x0A25E12D
DIGEST_BYTES = 16
SHARD_SHIFT = 40
NOTHING = -1
KEY_BYTES, OWNER_BYTES, SUBJECT_BYTES = 88, 48, 40
CODE_BYTES, CREATED_BYTES = 48, 40

# kind, node, tenant (indexes of names in the header), attempt, arrival, race, quantity, intended, sent, texts, mark
_INVOCATION = Struct(f"<HHHHqqqqq{KEY_BYTES}s{OWNER_BYTES}s{SUBJECT_BYTES}s{DIGEST_BYTES}sII")
# outcome, error, replayed, admission, status, done, code, created, digest of the body, mark
_COMPLETION = Struct(f"<BBBBiq{CODE_BYTES}s{CREATED_BYTES}s{DIGEST_BYTES}sII")
_SENT = Struct("<q")
_SENT_AT = 8 + 4 * 8
SLOT_BYTES = _INVOCATION.size + _COMPLETION.size
_PREAMBLE = Struct(f"<{len(MAGIC)}sIIQI")


class Outcome(IntEnum):
    """What the client may believe: it happened, it certainly did not, or nobody knows."""

    OK = 1
    FAIL = 2
    INFO = 3


class Failure(IntEnum):
    """Why there was no answer that could be believed; NONE where there was one."""

    NONE = 0
    TIMEOUT = 1
    RESET = 2
    EOF = 3
    REFUSED = 4
    MALFORMED = 5
    UNCLASSIFIED = 6
    STOPPED = 7


class JournalFull(Exception):  # noqa: N818 — a state of the journal, said as one
    """The journal has no free slot: nothing more may be sent, since it could not be remembered."""


class JournalTextTooLong(Exception):  # noqa: N818 — as above
    """A text does not fit its field and would be cut: the run's identifiers are longer than the journal holds."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What the slots refer to: who wrote them, how many fit, and the names behind the small numbers."""

    run: str
    shard: int
    capacity: int
    kinds: tuple[str, ...]
    nodes: tuple[str, ...]
    tenants: tuple[str, ...]
    admissions: tuple[str, ...] = ()


def digest(*parts: bytes) -> bytes:
    """Return the digest by which requests and bodies are compared."""
    made = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        made.update(part)
    return made.digest()


class Journal:
    """The writing side: `invoke`, `sending`, `complete`; one writer a file."""

    __slots__ = ("_map", "capacity", "header", "used")

    def __init__(self, path: Path, header: Header) -> None:
        """Make the file at its full size; raises FileExistsError on a second claim of the same shard, OSError if the disk is full."""
        about = msgspec.json.encode(header)
        if _PREAMBLE.size + len(about) > HEADER_BYTES:
            raise JournalTextTooLong(
                f"the journal's header holds {HEADER_BYTES} bytes; these names need more"
            )
        size = HEADER_BYTES + header.capacity * SLOT_BYTES
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _reserve(descriptor, size)
            self._map = mmap.mmap(descriptor, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            os.close(descriptor)
        _PREAMBLE.pack_into(self._map, 0, MAGIC, VERSION, SLOT_BYTES, header.capacity, len(about))
        self._map[_PREAMBLE.size : _PREAMBLE.size + len(about)] = about
        self.header = header
        self.capacity = header.capacity
        self.used = 0

    def invoke(
        self,
        *,
        kind: int,
        node: int,
        tenant: int,
        attempt: int,
        arrival: int,
        race: int,
        quantity: int,
        intended_ns: int,
        key: bytes,
        owner: bytes,
        subject: bytes,
        request_digest: bytes,
    ) -> int:
        """Write an invocation that has not left yet and return its slot; raises JournalFull and JournalTextTooLong."""
        slot = self.used
        if slot >= self.capacity:
            raise JournalFull(f"all {self.capacity} slots are used: raise the plan's operations_max")
        if len(key) > KEY_BYTES or len(owner) > OWNER_BYTES or len(subject) > SUBJECT_BYTES:
            raise JournalTextTooLong(
                f"key, owner or subject is too long to journal: {key!r}, {owner!r}, {subject!r}"
            )
        _INVOCATION.pack_into(
            self._map,
            HEADER_BYTES + slot * SLOT_BYTES,
            kind,
            node,
            tenant,
            attempt,
            arrival,
            race,
            quantity,
            intended_ns,
            0,
            key,
            owner,
            subject,
            request_digest,
            0,
            INVOKED,
        )
        self.used = slot + 1
        return slot

    def sending(self, slot: int, sent_ns: int) -> None:
        """Stamp the instant right before the first byte leaves; a slot without it certainly never left."""
        _SENT.pack_into(self._map, HEADER_BYTES + slot * SLOT_BYTES + _SENT_AT, sent_ns)

    def complete(
        self,
        slot: int,
        *,
        outcome: Outcome,
        failure: Failure,
        replayed: bool | None,
        status: int,
        done_ns: int,
        code: bytes,
        created: bytes,
        body_digest: bytes,
        admission: int = 0,
    ) -> None:
        """Write how the operation ended; `admission` is a place in the header's, from 1. Raises JournalTextTooLong."""
        if len(code) > CODE_BYTES or len(created) > CREATED_BYTES:
            raise JournalTextTooLong(f"code or created id is too long to journal: {code!r}, {created!r}")
        _COMPLETION.pack_into(
            self._map,
            HEADER_BYTES + slot * SLOT_BYTES + _INVOCATION.size,
            outcome,
            failure,
            2 if replayed is None else replayed,
            admission,
            status,
            done_ns,
            code,
            created,
            body_digest,
            0,
            COMPLETED,
        )

    def close(self) -> None:
        """Hand the pages to the kernel; the file is complete without it as long as the machine lives."""
        self._map.flush()
        self._map.close()


def preamble(raw: bytes) -> tuple[bytes, int, int, int, int]:
    """Split a file's first bytes into magic, version, slot size, capacity and length of the header's JSON."""
    magic, version, slot_bytes, capacity, length = _PREAMBLE.unpack_from(raw)
    return magic, version, slot_bytes, capacity, length


PREAMBLE_BYTES = _PREAMBLE.size


def _reserve(descriptor: int, size: int) -> None:
    """Claim the disk's blocks now: a page that finds the disk full later would kill the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.ftruncate(descriptor, size)
