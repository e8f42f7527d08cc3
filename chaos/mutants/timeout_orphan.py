"""Whether it happened is unknown, so the node does it once more under a key of its own: the first is nobody's."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors
from service.errors import Refused
from service.reservation import holds

if TYPE_CHECKING:
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answered

MUTANT: Final = Mutant(
    name="timeout-orphan",
    mechanism="Tries a hold whose outcome is unknown again under a new key, so that the first may stand for nobody.",
    section="limits",
    reports=("pass-culture/pass-culture-main#10731", "octotravel/spec#5"),
    scenario="database_blip",
    caught_by=("nothing_unattempted_exists", "one_effect_per_key"),
)
RETRIES_MAX: Final = 20
PAUSE_SECONDS: Final = 0.1


def plant() -> None:
    """Retry in the client's place."""
    healthy = holds.place

    async def place(database: Any, order: Order, **given: Any) -> Answered:
        try:
            return await healthy(database, order, **given)
        except Refused as refused:
            if refused.refusal is not errors.OUTCOME_UNKNOWN:
                raise
        for _ in range(RETRIES_MAX):
            await asyncio.sleep(PAUSE_SECONDS)
            with suppress(Refused):
                return await healthy(database, replace(order, key=secrets.token_hex(8)), **given)
        raise Refused(errors.OUTCOME_UNKNOWN)

    holds.place = place
