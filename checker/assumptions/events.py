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


BRIEF_NS: Final = 100_000_000
"""A fault that is over sooner, as a flush is at once, may fall between two operations of the densest load."""


def landed(*faults: str) -> Assumption:
    """Require that every planned fault of these names, kinds or places was proven to have landed, and healed.

    Somebody must have been there, and what it broke must have been well again: a fault that came when no operation was
    under way has tested nothing. One that was over within a tenth of a second need only have come during the load.
    """
    return Assumption(name="landed", kind="vacuity", parameters=dict.fromkeys(faults, 1))


@measures(landed, "vacuity")
def _landed(evidence: Evidence, parameters: Parameters) -> Measured:
    said, holds = [], True
    for fault, least in parameters.items():
        rows = evidence.rows(_LANDINGS, fault)
        missed = [why for fell, *_, why in rows if not fell]
        unhealed = sum(1 for _, healed, *_ in rows if not healed)
        apart = sum(
            1 for fell, _, since_ns, until_ns, _ in rows if fell and not _met(evidence, since_ns, until_ns)
        )
        unwell = [why for fell, *_, why in rows if fell and why is not None]
        holds = holds and len(rows) >= int(least) and not (missed or unhealed or apart or unwell)
        words = f"{fault}: {len(rows) - len(missed)} of {len(rows)} landed"
        words += f", {unhealed} not healed" if unhealed else ""
        words += f", {apart} while no operation was under way" if apart else ""
        words += f" ({missed[0] or 'no proof'})" if missed else ""
        words += f" ({unwell[0]})" if unwell else ""
        said.append(words)
    return Measured(holds, f"{', '.join(parameters)} landed during the load, and healed", "; ".join(said))


def _met(evidence: Evidence, since_ns: int, until_ns: int) -> bool:
    """Tell whether an operation was under way while a fault was in force: a victim, if it was to have any."""
    sql = _VICTIM if until_ns - since_ns >= BRIEF_NS else _BRACKET
    (met,) = evidence.row(sql, until_ns, since_ns)
    return bool(met)


# Whether each fault of a name landed, was healed, since when and until when it was in force, and what went wrong. In force
# from its injection: the proof may come a while after the effect.
_LANDINGS: Final = """
SELECT landed_ns IS NOT NULL, healed_ns IS NOT NULL, least(injected_ns, landed_ns), coalesce(healed_ns, landed_ns), error
FROM faults WHERE ? IN (fault, kind, "where") ORDER BY planned_ns, fault
"""

# One that never left had a victim's part too: the door was shut. What never ended was under way to the end.
_VICTIM: Final = """
SELECT EXISTS (
    FROM operations WHERE coalesce(sent_ns, intended_ns) <= ? AND coalesce(done_ns, 9223372036854775807) >= ?
)
"""

# Between the first request and the last answer.
_BRACKET: Final = """
SELECT coalesce(min(sent_ns) <= ? AND max(greatest(sent_ns, done_ns)) >= ?, false) FROM operations
"""
