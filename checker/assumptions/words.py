"""That the words in which a target tells its states are those in which invariants are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption
from checker.canonical import STATES

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence

SHOWN: Final = 3


def states_known() -> Assumption:
    """Require every state to be a canonical word: what is in a state that nobody knows claims nothing, and frees nothing."""
    return Assumption(name="states_known", kind="evidence")


@measures(states_known, "evidence")
def _states_known(evidence: Evidence, _parameters: Parameters) -> Measured:
    mapped = [
        name for name, table in evidence.brief.tables.items() if name in STATES and "state" in table.columns
    ]
    required = "every state to be one of the canonical words"
    strange = [found for name in sorted(mapped) for found in _strange(evidence, name)]
    if strange:
        return Measured(False, required, "; ".join(strange[:SHOWN]))
    return Measured(
        True, required, f"so it is in {', '.join(sorted(mapped)) or 'no table, as none has states'}"
    )


def _strange(evidence: Evidence, name: str) -> list[str]:
    """Say which words of one table are not canonical, and how often one is seen in the trail and at rest."""
    words = ", ".join(f"'{word}'" for word in STATES[name])
    rows = evidence.rows(
        f"""
        SELECT coalesce(state, 'null') AS word, count(*) FROM (
            SELECT state FROM trail.{name} WHERE present UNION ALL SELECT state FROM state.{name}
        ) WHERE coalesce(state NOT IN ({words}), true) GROUP BY word ORDER BY word LIMIT {SHOWN}
        """  # noqa: S608 - names and words are the checker's own
    )
    return [f"{name} are {word} {count}×" for word, count in rows]
