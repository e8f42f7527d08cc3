"""The answer is sent, and then the transaction is committed: whoever asks next may not see what they were told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import holds

if TYPE_CHECKING:
    from service.database import Connection, Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered

MUTANT: Final = Mutant(
    name="answer-before-commit",
    mechanism="Answers a hold before its COMMIT, as a session that is committed when the response has gone does.",
    section="postgresql",
    reports=("vstorm-co/agenticos#353", "omnigres/omnigres#778"),
    scenario="last_seat_race",
    caught_by=("seats_linearize",),
)
GONE_SECONDS: Final = 0.02
"""How long it takes until the response has gone: what the first of the reports measured."""


def plant() -> None:
    """Decide each hold alone, in a transaction that outlives its answer."""
    healthy = holds.place

    async def place(database: Database, order: Order, **given: Any) -> Answered:
        return await healthy(database, order, lease=given["lease"])

    holds.place = place
    holds.take_alone = Early().take_alone


class Early:
    """Those whose transactions are not committed yet."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def take_alone(self, database: Database, order: Order) -> Answer | None:
        """Return the answer as soon as there is one."""
        told: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._decide(database, order, told))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await told

    async def _decide(self, database: Database, order: Order, told: asyncio.Future[Answer | None]) -> None:
        async def work(connection: Connection) -> None:
            answer = await holds.take(connection, order)
            if not told.done():
                told.set_result(answer)
            if answer is not None and answer.status == 201:  # noqa: PLR2004 - a hold was made
                await asyncio.sleep(GONE_SECONDS)

        try:
            await database.transaction(work)
        except Exception as error:  # noqa: BLE001 - it is whoever waits who reports it
            if not told.done():
                told.set_exception(error)
