"""The sweeper goes by the clock alone, and gives away seats that were paid for."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _schema, reword
from service.reservation import expiry

MUTANT: Final = Mutant(
    name="sweep-hits-confirmed",
    mechanism="Sweeps every hold whose time is over, those that were confirmed in time among them, and frees its seats.",
    section="holds",
    reports=("buildrun-tech/system-design-interview-ticketmasters#3", "alfio-event/alf.io#1421"),
    scenario="change_of_plans",
    caught_by=(
        "terminal_rows_never_change",
        "states_move_one_way",
        "occupancy_matches_claims",
    ),
    schema=(_schema.any_move("holds"),),
)

SWEPT: Final = "state IN ('ACTIVE', 'CONFIRMED')"


def plant() -> None:
    """Let a confirmed hold be found by the sweep, and be ended by it."""
    reword(
        expiry.SQL,
        "expire_holds",
        was="resource_id = $1 AND state = 'ACTIVE'",
        now=f"resource_id = $1 AND {SWEPT}",
    )
    reword(
        expiry.SQL,
        "expire_holds",
        was="h.id = overdue.id AND h.state = 'ACTIVE'",
        now=f"h.id = overdue.id AND h.{SWEPT}",
    )
