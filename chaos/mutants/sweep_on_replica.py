"""The sweep asks a copy that lags what is due: as long as the copy knows of nothing, nothing is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import expiry

if TYPE_CHECKING:
    from service.reservation.expiry import Due

MUTANT: Final = Mutant(
    name="sweep-on-replica",
    mechanism="Reads what is due from a copy that is brought up to date once a minute.",
    section="leaders",
    reports=("saleor/saleor#18324",),
    scenario="sweeper_backlog",
    caught_by=("nothing_left_behind",),
)
LAG_SECONDS: Final = 60.0


def plant() -> None:
    """Put the copy before the database."""
    healthy = expiry.find_due
    copied_at = float("-inf")
    copy: list[Due] = []

    async def find_due(connection: Any, **given: Any) -> list[Due]:
        nonlocal copied_at, copy
        if time.monotonic() - copied_at > LAG_SECONDS:
            copy, copied_at = await healthy(connection, **given), time.monotonic()
        return copy

    expiry.find_due = find_due
