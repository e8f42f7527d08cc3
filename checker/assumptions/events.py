"""Vacuity: what must have occurred — outcomes of operations, and faults that really landed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
    """Require that every planned fault of these names, kinds or places was proven to have landed, and healed.

    It must have been in force at some time of the load, and what it broke must have been well again: a fault that
    came when nobody was there has tested nothing.
    """
    return Assumption(name="landed", kind="vacuity", parameters=dict.fromkeys(faults, 1))


@measures(landed, "vacuity")
def _landed(evidence: Evidence, parameters: Parameters) -> Measured:
    said, holds = [], True
    for fault, least in parameters.items():
        rows = evidence.rows(_LANDINGS, fault)
        missed = [why for fell, *_, why in rows if not fell]
        unhealed = sum(1 for _, healed, *_ in rows if not healed)
        apart = sum(1 for fell, _, met, _ in rows if fell and not met)
        unwell = [why for fell, _, _, why in rows if fell and why is not None]
        holds = holds and len(rows) >= int(least) and not (missed or unhealed or apart or unwell)
        words = f"{fault}: {len(rows) - len(missed)} of {len(rows)} landed"
        words += f", {unhealed} not healed" if unhealed else ""
        words += f", {apart} while no operation was under way" if apart else ""
        words += f" ({missed[0] or 'no proof'})" if missed else ""
        words += f" ({unwell[0]})" if unwell else ""
        said.append(words)
    return Measured(holds, f"{', '.join(parameters)} landed during the load, and healed", "; ".join(said))


# Whether each fault of a name landed, was healed, was in force between the first request and the last answer, and what
# went wrong. In force from its injection: the proof may come a while after the effect.
_LANDINGS: Final = """
SELECT landed_ns IS NOT NULL, healed_ns IS NOT NULL,
    coalesce(least(injected_ns, landed_ns) <= until_ns, false) AND coalesce(healed_ns, landed_ns) >= since_ns, error
FROM faults, (SELECT min(sent_ns) AS since_ns, max(greatest(sent_ns, done_ns)) AS until_ns FROM operations)
WHERE ? IN (fault, kind, "where") ORDER BY planned_ns, fault
"""
