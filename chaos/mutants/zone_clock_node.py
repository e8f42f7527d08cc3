"""A node goes by the clock on its own wall: what is alive by the database's is over by that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _wall_clock
from service.reservation import rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.errors import Refusal
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="zone-clock-node",
    mechanism="Decides by the node's own clock whether a hold or an offer is over: a node that is ahead ends what still has time.",
    section="holds",
    reports=("informedica/GenPRES#826", *_wall_clock.REPORTS),
    scenario="clock_skew",
    caught_by=("expired_is_true",),
)


def plant() -> None:
    """Put the node's time in the place of the one that the database told."""
    healthy_hold, healthy_offer = rules.hold_refusal, rules.offer_refusal

    def hold_refusal(hold: Mapping[str, Any], action: Action, *, policy_version: int) -> Refusal | None:
        return healthy_hold(_here(hold), action, policy_version=policy_version)

    def offer_refusal(offer: Mapping[str, Any], action: Action) -> Refusal | None:
        return healthy_offer(_here(offer), action)

    rules.hold_refusal = hold_refusal
    rules.offer_refusal = offer_refusal


def _here(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**row, "at": datetime.now(UTC)}
