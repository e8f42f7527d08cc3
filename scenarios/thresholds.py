"""How quick is quick enough: limits on what was measured, reported in smoke and judged in full."""

from __future__ import annotations

from checker.brief import Threshold


def p99(operation: str, *, below_seconds: float, outside_faults: bool = False) -> Threshold:
    """Limit the response time (done − intended) that one operation in a hundred may exceed."""
    return Threshold(
        name="p99",
        operation=operation,
        parameters={"below_seconds": below_seconds, "outside_faults": int(outside_faults)},
    )


def recovers(operation: str, *, within_seconds: float) -> Threshold:
    """Limit the time from the healing of each fault to the next success."""
    return Threshold(name="recovers", operation=operation, parameters={"within_seconds": within_seconds})
