"""When things happen by hand: ms after t0, as clocks, transaction ids and places in the log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MS = 1_000_000
T0_NS = 5_000 * MS
REAL_AHEAD_NS = 1_700_000_000_000 * MS
FIRST_XID = 700


def lsn_at(place: float) -> int:
    return 1_000_000 + round(place * 1_000)


def us_at(ms: float) -> int:
    """The database's clock."""
    return (T0_NS + round(ms * MS) + REAL_AHEAD_NS) // 1_000


def printed_at(ms: float) -> str:
    """The database's clock, as PostgreSQL prints it."""
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us_at(ms))
    return f"{instant:%Y-%m-%d %H:%M:%S.%f}+00"


def ns_at(ms: float | None) -> int | None:
    return None if ms is None else T0_NS + round(ms * MS)
