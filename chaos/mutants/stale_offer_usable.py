"""An offer whose time is over is accepted all the same, and the seat is somebody else's by now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _schema, reword
from service import errors
from service.reservation import offers, rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from service.errors import Refusal
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="stale-offer-usable",
    mechanism="Accepts an offer unless it was accepted or declined before, and never asks whether its time is over.",
    section="waitlist",
    reports=("deep-learning-indaba/Baobab#393", "letsrevel/revel-backend#426"),
    scenario="offer_expiry",
    caught_by=("nothing_happens_after_expiry", "states_move_one_way", "terminal_rows_never_change"),
    # The moves that the schema would refuse.
    schema=(
        _schema.any_move("offers"),
        _schema.any_move("waitlist_entries"),
    ),
)


def plant() -> None:
    """Take an expired offer for a live one."""
    rules.offer_refusal = offer_refusal
    reword(offers.SQL, "accept", was="AND state = 'ACTIVE'", now="AND state IN ('ACTIVE', 'EXPIRED')")


def offer_refusal(offer: Mapping[str, Any], action: Action) -> Refusal | None:
    """Return why an offer may not be accepted: only that it is another's, or was answered before."""
    if offer["owner_digest"] != action.owner_digest:
        return errors.OWNER_MISMATCH
    return errors.OFFER_NOT_ACTIVE if offer["state"] in {"ACCEPTED", "DECLINED"} else None
