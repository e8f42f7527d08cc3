"""Evidence: a service that gets no processor fails people without being wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.load import waited_for_processors
from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence

STARVED_SHARE_MAX: Final = 0.97
"""A crowd that brings a service to its limits had somebody wait for 0.87 of the time on a machine that did nothing else,
and tests that ran beside it for 0.93 to 0.95; a healthy service first failed buyers at 0.99."""


def processors_free(*, starved_share_max: float = STARVED_SHARE_MAX) -> Assumption:
    """Require that for no more of the load's time than that something waited for a processor; met where nobody tells."""
    return Assumption(
        name="processors_free", kind="evidence", parameters={"starved_share_max": starved_share_max}
    )


@measures(processors_free, "evidence")
def _processors_free(evidence: Evidence, parameters: Parameters) -> Measured:
    most = float(parameters.get("starved_share_max", STARVED_SHARE_MAX))
    required = f"nothing that waited for a processor for more than {most:.0%} of the load's time"
    waited = None if evidence.lacks("samples") else waited_for_processors(evidence)
    if waited is None:
        return Measured(True, required, "nobody told whether anything waited for a processor")
    return Measured(waited <= most, required, f"something waited for one for {waited:.1%} of the time")
