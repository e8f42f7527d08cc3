"""Vacuity: who let commands in while Redis, which only advises on it, was broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def admitted_by(*words: str, at_least: int = 1) -> Assumption:
    """Require every node to have let in so many commands by each of these words while Redis was broken, e.g. `local-fallback`."""
    return Assumption(name="admitted_by", kind="vacuity", parameters=dict.fromkeys(words, at_least))


@measures(admitted_by, "vacuity")
def _admitted_by(evidence: Evidence, parameters: Parameters) -> Measured:
    required = ", ".join(f"{word} at least {least}×" for word, least in parameters.items())
    required = f"while Redis was broken every node let commands in by {required}"
    if lack := next(filter(None, map(evidence.lacks, ("operations", "samples", "faults"))), None):
        return Measured(False, required, lack)
    holds, said = True, []
    for word, least in parameters.items():
        counts = evidence.rows(_ADMITTED, word)
        holds = holds and bool(counts) and all(count >= int(least) for _, count in counts)
        said += [f"{node} by {word} {count}×" for node, count in counts]
    return Measured(holds, required, ", ".join(said) or "no node was asked anything")


# By the instant at which a command was sent; a fault is in place from its proof on.
_ADMITTED: Final = """
WITH admitted AS (
    SELECT s.source FROM samples s WHERE s.metric = ? AND EXISTS (
        FROM breakages b WHERE b.of_redis AND b.landed_ns <= s.mono_ns AND coalesce(b.healed_ns, s.mono_ns) >= s.mono_ns
    )
)
SELECT o.node, (SELECT count(*) FROM admitted a WHERE a.source = 'admission/' || o.node)
FROM (SELECT DISTINCT node FROM operations WHERE node IS NOT NULL) o ORDER BY o.node
"""
