"""The effect ledger: a JSON line for each request, on disk before it is answered."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Self

import msgspec

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

Answer = Literal["accepted", "duplicate", "declined", "failed"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One request: `accepted` alone is an effect. `effect` is its dedupe id; `received_ns` is CLOCK_MONOTONIC."""

    provider: str
    effect: str
    received_ns: int
    answer: Answer
    payload: str
    caller: str
    path: str


class Ledger:
    """One provider's ledger; what it accepted or declined before a restart, it knows afterwards."""

    def __init__(self, path: Path) -> None:
        self._final: dict[str, Entry] = {
            entry.effect: entry for entry in read(path) if entry.answer in {"accepted", "declined"}
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._file.truncate(_whole_bytes(path))
        self._encode = msgspec.json.Encoder().encode

    def final(self, effect: str) -> Entry | None:
        """Find what was decided for an id, once and for all."""
        return self._final.get(effect)

    def write(self, entry: Entry) -> None:
        """Put an entry on disk, durably."""
        self._file.write(self._encode(entry) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if entry.answer in {"accepted", "declined"}:
            self._final[entry.effect] = entry

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _whole_bytes(path: Path) -> int:
    """Return where the last whole line ends, which the next one must follow."""
    return path.read_bytes().rfind(b"\n") + 1


def read(path: Path) -> list[Entry]:
    """Read a ledger; a last line that was torn by a kill was never answered, and is left out. Raises msgspec.DecodeError."""
    if not path.exists():
        return []
    *whole, _torn = path.read_bytes().split(b"\n")
    decode = msgspec.json.Decoder(Entry).decode
    return [decode(line) for line in whole]
