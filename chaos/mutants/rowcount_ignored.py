"""The seat is taken under a condition, and nobody looks whether it was: whoever came too late gets a hold as well."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _take, reword
from service.reservation import holds

MUTANT: Final = Mutant(
    name="rowcount-ignored",
    mechanism="Takes the seats only where they are free, and writes the hold whether or not that changed a row.",
    section="capacity",
    reports=("shopperlabs/shopper#510", "hoangdaochuz/booking#27"),
    scenario="last_seat_race",
    caught_by=("never_oversold", "occupancy_matches_claims"),
)


def plant() -> None:
    """Move the condition on the capacity from the decision into the UPDATE, and let nothing depend on its row."""
    _take.drop_guard(holds.SQL)
    reword(
        holds.SQL,
        "take",
        was="FROM decided AS d WHERE r.id = d.id AND d.refusal IS NULL",
        now="FROM decided AS d WHERE r.id = d.id AND d.refusal IS NULL AND d.occupied_count + $7 <= d.capacity",
    )
    reword(
        holds.SQL,
        "take",
        was="FROM decided AS d JOIN occupied USING (id)",
        now="FROM decided AS d LEFT JOIN occupied USING (id) WHERE d.refusal IS NULL",
    )
    reword(
        holds.SQL,
        "take",
        was="FROM held AS h, occupied",
        now="FROM held AS h, (SELECT coalesce((SELECT revision FROM occupied), d.revision) AS revision FROM decided AS d) AS occupied",
    )
