"""Vacuity: what must have occurred — outcomes of operations, and faults that really landed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def happened(*events: str, at_least: int = 1) -> Assumption:
    """Require operations that ended so: `kind:outcome` or `kind:outcome:code`, e.g. `hold:fail:SOLD_OUT`."""
    return Assumption(name="happened", kind="vacuity", parameters=dict.fromkeys(events, at_least))


@measures(happened, "vacuity")
def _happened(evidence: Evidence, parameters: Parameters) -> Measured:
    counts = {event: _count(evidence, event) for event in parameters}
    return Measured(
        all(count >= int(parameters[event]) for event, count in counts.items()),
        ", ".join(f"{event} at least {least}×" for event, least in parameters.items()),
        ", ".join(f"{event} {count}×" for event, count in counts.items()),
    )


def _count(evidence: Evidence, event: str) -> int:
    kind, _, rest = event.partition(":")
    outcome, _, code = rest.partition(":")
    sql = "SELECT count(*) FROM operations WHERE kind = ? AND outcome = ? AND (? = '' OR code = ?)"
    (count,) = evidence.row(sql, kind, outcome, code, code)
    return int(count)


def landed(*faults: str) -> Assumption:
    """Require that every planned fault of these names, kinds or places was proven to have landed, and healed."""
    return Assumption(name="landed", kind="vacuity", parameters=dict.fromkeys(faults, 1))


@measures(landed, "vacuity")
def _landed(evidence: Evidence, parameters: Parameters) -> Measured:
    said, holds = [], True
    for fault, least in parameters.items():
        rows = evidence.rows(
            """
            SELECT landed_ns IS NOT NULL, healed_ns IS NOT NULL, coalesce(error, proof) FROM faults
            WHERE ? IN (fault, kind, "where") ORDER BY planned_ns, fault
            """,
            fault,
        )
        missed = [why for landed_too, _, why in rows if not landed_too]
        unhealed = sum(1 for _, healed, _ in rows if not healed)
        holds = holds and len(rows) >= int(least) and not missed and not unhealed
        words = f"{fault}: {len(rows) - len(missed)} of {len(rows)} landed"
        words += f", {unhealed} not healed" if unhealed else ""
        words += f" ({missed[0] or 'no proof'})" if missed else ""
        said.append(words)
    return Measured(holds, f"{', '.join(parameters)} landed and healed", "; ".join(said))
