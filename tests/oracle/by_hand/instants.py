"""When things happen by hand: ms after t0, as clocks, transaction ids and places in the log."""

from __future__ import annotations

MS = 1_000_000
T0_NS = 5_000 * MS
REAL_AHEAD_NS = 1_700_000_000_000 * MS
FIRST_XID = 700


def lsn_at(place: float) -> int:
    return 1_000_000 + round(place * 1_000)


def ns_at(ms: float | None) -> int | None:
    return None if ms is None else T0_NS + round(ms * MS)
