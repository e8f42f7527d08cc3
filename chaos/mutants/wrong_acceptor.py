"""An offer is found by its id alone: whoever knows the id accepts it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.errors import Refusal
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="wrong-acceptor",
    mechanism="Never asks whether who accepts or declines an offer is who it was made to.",
    section="waitlist",
    reports=("getsentry/sentry#30065", "webrenew/unicon#75"),
    scenario="stolen_offer",
    caught_by=("only_the_owner_acts",),
)

_offer_refusal = rules.offer_refusal


def plant() -> None:
    """Take everybody for the owner of an offer."""
    rules.offer_refusal = offer_refusal


def offer_refusal(offer: Mapping[str, Any], action: Action) -> Refusal | None:
    """Return why an offer may not be used, whoever asks."""
    return _offer_refusal(offer, replace(action, owner_digest=offer["owner_digest"]))
