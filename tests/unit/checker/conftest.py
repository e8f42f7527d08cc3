"""What a real server said, for tests that read it without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.trail.spool import Frame

RECORDED = Path(__file__).with_name("pgoutput_recorded.txt")


@pytest.fixture(scope="session")
def recorded() -> list[Frame]:
    lines = [line for line in RECORDED.read_text().splitlines() if not line.startswith("#")]
    return [_frame(line) for line in lines]


def _frame(line: str) -> Frame:
    lsn, xid, *parts = line.split()
    return Frame(int(lsn), int(xid), b"".join(_bytes(part) for part in parts))


def _bytes(part: str) -> bytes:
    byte, repeated, count = part.partition("*")
    return bytes.fromhex(byte) * (int(count) if repeated else 1)
