"""A row that cannot be ended ends the sweep instead: nobody comes back for all the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.reservation.sweeper import Outcome, Sweep, Sweeper

if TYPE_CHECKING:
    from service.reservation.expiry import Due

MUTANT: Final = Mutant(
    name="sweep-aborts",
    mechanism="Lets the first row that fails end the tick, and counts the tick as under way for ever after.",
    section="leaders",
    reports=("hashview/hashview#266", "aegra/aegra#545", "param20h/PDF-Assistant-RAG#650"),
    scenario="sweeper_backlog",
    caught_by=("nothing_left_behind",),
    # Every twentieth hold cannot be ended at first. The healthy sweep leaves it out and comes back for it. A sequence
    # counts, for what it counts stands although the transaction falls.
    schema=(
        "CREATE SEQUENCE failures",
        """
        CREATE FUNCTION refuse_to_end() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF nextval('failures') <= 6 THEN
                RAISE EXCEPTION 'hold % cannot be ended yet', OLD.id USING ERRCODE = 'foreign_key_violation';
            END IF;
            RETURN NEW;
        END $$
        """,
        """
        CREATE TRIGGER holds_that_fail BEFORE UPDATE ON holds FOR EACH ROW
            WHEN (OLD.id % 20 = 0 AND NEW.state = 'EXPIRED') EXECUTE FUNCTION refuse_to_end()
        """,
    ),
)


def plant() -> None:
    """Let a failure out of the tick, and forget to say that the tick is over."""

    async def run_once(self: Sweeper) -> Sweep:
        if self._busy:
            return Sweep(outcome=Outcome.LOCAL_BUSY)
        self._busy = True
        sweep = await self._tick()
        self._busy = False
        return sweep

    def let_out(self: Sweeper, due: Due, error: Exception) -> None:
        del self, due
        raise error

    Sweeper.run_once = run_once  # type: ignore[method-assign]  # that is how a bug is planted
    Sweeper._let_rest = let_out  # type: ignore[method-assign]  # as above
