"""The faults among the lines of a witness: those that were in force while it came about, each from when to when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from checker.verdict import WitnessLine

if TYPE_CHECKING:
    from checker.evidence import Evidence

FOR_EVER_NS: Final = 2**63 - 1


class Band(NamedTuple):
    """A fault from its beginning to its healing (None: it was never healed)."""

    from_ns: int
    healed_ns: int | None
    fault: str


def in_force(
    evidence: Evidence,
    since_ns: int | None,
    until_ns: int | None,
    *,
    named: str | None = None,
    healed_ns: int | None = None,
) -> list[Band]:
    """Return the faults that were in force at any time between two instants, the last of them perhaps at rest (None).

    And the one that is named by what it is called and by when it was healed. In the order in which they began.
    """
    found = evidence.rows(
        """
        SELECT DISTINCT * FROM (SELECT coalesce(injected_ns, landed_ns) AS from_ns, healed_ns, fault FROM faults)
        WHERE from_ns <= ? AND coalesce(healed_ns, ?) >= ? OR fault = ? AND healed_ns = ? AND from_ns IS NOT NULL
        ORDER BY ALL
        """,
        FOR_EVER_NS if until_ns is None else until_ns,
        FOR_EVER_NS,
        FOR_EVER_NS if since_ns is None else since_ns,
        named,
        healed_ns,
    )
    return [Band(*fault) for fault in found]


def line(band: Band, zero_ns: int) -> WitnessLine:
    """Tell a fault in one line, which stands where it began."""
    since, until = (
        None if at_ns is None else f"{(at_ns - zero_ns) / 1e9:+.2f} s"
        for at_ns in (band.from_ns, band.healed_ns)
    )
    span = f"from {since} on, never healed" if until is None else f"from {since} to {until}"
    return WitnessLine(
        at_ms=at_ms(band.from_ns, zero_ns),
        who="fault",
        what=f"{band.fault}, {f'at {since}' if since == until else span}",
        fault=band.fault,
        until_ms=at_ms(band.healed_ns, zero_ns),
    )


def at_ms(at_ns: int | None, zero_ns: int) -> float | None:
    """Return an instant in ms after t0, as a witness dates its lines."""
    return None if at_ns is None else round((at_ns - zero_ns) / 1e6, 3)
