"""The sweep goes on behind the rows that it has dealt with, although these are no longer in its list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import expiry

if TYPE_CHECKING:
    from service.reservation.expiry import Due

MUTANT: Final = Mutant(
    name="offset-skip",
    mechanism="Pages through what is due by an offset that grows while the list itself gets shorter.",
    section="leaders",
    reports=(
        "woocommerce/woocommerce-admin#2385",
        "saveourtool/save-cloud#310",
        "param20h/PDF-Assistant-RAG#792",
    ),
    scenario="sweeper_backlog",
    caught_by=("nothing_left_behind",),
)


def plant() -> None:
    """Skip as many as were found before."""
    healthy = expiry.find_due
    passed = 0

    async def find_due(connection: Any, *, limit: int, **given: Any) -> list[Due]:
        nonlocal passed
        page = (await healthy(connection, limit=passed + limit, **given))[passed:]
        passed += len(page)
        return page

    expiry.find_due = find_due
