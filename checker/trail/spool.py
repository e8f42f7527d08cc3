"""The spool: frames from the slot, appended as they came, from which the trail can be decoded again at any time.

Layout: an 8-byte magic, then for each frame the length of its payload, the CRC-32 of everything after the CRC,
its LSN, its xid, and the payload (one pgoutput message). Written and flushed before the slot moves on, but not
fsynced: it survives the death of the reader, not of the machine.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

MAGIC: Final = b"LASTTRL1"
_HEAD: Final = Struct("<IIQI")
_STAMP: Final = Struct("<QI")  # the part of the head that the checksum covers
_STAMP_AT: Final = _HEAD.size - _STAMP.size
_BUFFER_BYTES: Final = 1 << 20
# PostgreSQL values end at 1 GB; a longer frame is a damaged length, not a message.
_FRAME_BYTES_MAX: Final = 1 << 31


class SpoolError(Exception):
    """A spool that cannot be written, or is damaged elsewhere than at its tail."""


class Frame(NamedTuple):
    """One message as the slot gave it: where in the WAL, by which transaction, and its bytes."""

    lsn: int
    xid: int
    data: bytes


class Spool:
    """An append-only file of frames; the file must not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.frames = 0
        self._file = path.open("xb", buffering=_BUFFER_BYTES)
        self._file.write(MAGIC)
        self._file.flush()

    def append(self, lsn: int, xid: int, data: bytes) -> None:
        """Add one frame; it is safe from the reader's own death only after flush."""
        crc = crc32(data, crc32(_STAMP.pack(lsn, xid)))
        try:
            self._file.write(_HEAD.pack(len(data), crc, lsn, xid))
            self._file.write(data)
        except OSError as failure:
            raise SpoolError(f"{self.path.name} cannot be written: {failure}") from failure
        self.frames += 1

    def flush(self) -> None:
        """Hand everything to the operating system."""
        try:
            self._file.flush()
        except OSError as failure:
            raise SpoolError(f"{self.path.name} cannot be written: {failure}") from failure

    def close(self) -> None:
        """Flush and close; closing twice is harmless."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def frames(path: Path) -> Iterator[Frame]:
    """Yield the frames of a spool in order; a tail torn by a crash ends it quietly.

    Raises SpoolError where a damaged frame has others behind it, and where the file is no spool.
    """
    size = path.stat().st_size
    with path.open("rb", buffering=_BUFFER_BYTES) as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise SpoolError(f"{path.name} is no spool: its first bytes are another's")
        at = len(MAGIC)
        while len(head := file.read(_HEAD.size)) == _HEAD.size:
            length, crc, lsn, xid = _HEAD.unpack(head)
            end = at + _HEAD.size + length
            if length > _FRAME_BYTES_MAX:
                raise SpoolError(f"{path.name} is damaged at byte {at}: a frame of {length} bytes")
            data = file.read(length)
            if len(data) != length or crc32(data, crc32(head[_STAMP_AT:])) != crc:
                if end >= size:
                    return
                raise SpoolError(f"{path.name} is damaged at byte {at}: the checksum does not match")
            yield Frame(lsn, xid, data)
            at = end


def torn_bytes(path: Path) -> int:
    """Count the bytes after the last whole frame: more than 0 after a crash in the middle of a write."""
    end = len(MAGIC)
    for frame in frames(path):
        end += _HEAD.size + len(frame.data)
    return path.stat().st_size - end
