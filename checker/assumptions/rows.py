"""Vacuity: what must have become of rows, where no operation tells of it — what expired, what was delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence


def became(*states: str, at_least: int = 1) -> Assumption:
    """Require so many rows at rest in a state: `table:STATE` of a canonical table, e.g. `offers:EXPIRED`."""
    return Assumption(name="became", kind="vacuity", parameters=dict.fromkeys(states, at_least))


@measures(became, "vacuity")
def _became(evidence: Evidence, parameters: Parameters) -> Measured:
    required = ", ".join(f"{state} at least {least}×" for state, least in parameters.items())
    counts: dict[str, int] = {}
    for named in parameters:
        table, _, state = named.partition(":")
        if lack := evidence.lacks(f"{table}.state"):
            return Measured(False, required, lack)
        sql = f"SELECT count(*) FROM state.{table} WHERE state = ?"  # noqa: S608 — a canonical name
        (counts[named],) = evidence.row(sql, state)
    return Measured(
        all(count >= int(parameters[named]) for named, count in counts.items()),
        required,
        ", ".join(f"{named} {count}×" for named, count in counts.items()),
    )
