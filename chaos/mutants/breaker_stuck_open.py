"""The breaker opens and stays so: nobody is ever let in to try whether the other side is back."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant
from service.reservation.admission.breaker import Breaker, Circuit

MUTANT: Final = Mutant(
    name="breaker-stuck-open",
    mechanism="Stops asking Redis after a few failures in a row, and never tries again: until the node is started anew it does without.",
    section="redis",
    reports=("failsafe-go/failsafe-go#97", "diegosouzapw/OmniRoute#13836", "getnora-io/nora#585"),
    scenario="redis_outage",
    caught_by=("redis_is_asked_again",),
)


def plant() -> None:
    """Take the half-open state away."""

    def may_ask(self: Breaker) -> bool:
        return self.circuit is Circuit.CLOSED

    Breaker.may_ask = may_ask  # type: ignore[method-assign]  # that is how a bug is planted
