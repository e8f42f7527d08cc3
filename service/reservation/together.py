"""Plain holds that wait for the same resource inside one node, decided in one transaction in the order of arrival.

On one hot resource the commit's fsync is the limit; those who wait behind one commit share the next. Whoever finds nobody
in front is decided at once, by a statement of their own. Nothing is weakened: each hold has its own key, row, revision and
answer, and what fails them all fails each as it would alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import asyncpg

from service import deadline, errors, statements
from service.errors import Refused
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from service.database import Connection, Database
    from service.deadline import Deadline
    from service.errors import Refusal
    from service.reservation.holds import Order
    from service.settings import Settings

SQL: Final = statements.load("service.reservation", "together")


async def take_together(
    connection: Connection, orders: Sequence[Order], *, at: datetime | None = None
) -> list[Answer | None]:
    """Decide holds of one tenant's one resource in one statement that commits by itself, as `holds.take` would in turn.

    The orders' keys are distinct.
    """
    first = orders[0]
    rows = await SQL["take_together"].rows(
        connection, tenant=first.tenant, operation=holds.OPERATION, resource=first.resource, at=at,
        keys=[order.key for order in orders], fingerprints=[order.fingerprint for order in orders],
        owners=[order.owner_digest for order in orders], quantities=[order.quantity for order in orders],
        expected=[order.expected_revision for order in orders], **holds.TOLD,
    )  # fmt: skip
    answers: list[Answer | None] = [None] * len(orders)
    for place, status, body in rows:
        answers[place - 1] = Answer(status, body)
    return answers


@dataclass(slots=True, eq=False)
class _Waiter:
    """One who waits for a turn, and until when: a waiter whose hold is being decided no longer has a deadline of its own."""

    order: Order
    told: asyncio.Future[Answer | None]
    command: Deadline | None
    deadline: asyncio.TimerHandle | None = None


_Queue = deque[_Waiter]


class Together:
    """The queues of one node, one for each resource that somebody is deciding about."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._orders_max = settings.holds_together_max
        # As long as one would wait for a connection, were each decided alone.
        self._patience_seconds = settings.pool_acquire_ms / 1_000
        self._queues: dict[tuple[str, int], _Queue] = {}
        self._serving: set[asyncio.Task[None]] = set()

    async def decide(self, order: Order) -> Answer | None:
        """Decide a plain hold; None where the key is known or the resource is none for plain holds.

        Raises Refused; an unknown COMMIT is unknown to all who were decided in it.
        """
        where = (order.tenant, order.resource)
        if (queue := self._queues.get(where)) is not None:
            return await self._wait(queue, order)
        queue = self._queues[where] = deque()
        try:
            return await holds.take_alone(self._database, order)
        finally:
            self._go_on(where, queue)

    async def _wait(self, queue: _Queue, order: Order) -> Answer | None:
        loop = asyncio.get_running_loop()
        waiter = _Waiter(order, loop.create_future(), deadline.current())
        patience_seconds = deadline.work_seconds_left(self._patience_seconds)
        hurried = patience_seconds < self._patience_seconds
        why = errors.DEADLINE_PASSED if hurried else errors.DATABASE_BUSY
        waiter.deadline = loop.call_later(patience_seconds, _give_up, queue, waiter, why)
        queue.append(waiter)
        return await waiter.told

    def _go_on(self, where: tuple[str, int], queue: _Queue) -> None:
        """Let those who have come meanwhile be decided, in a task that is none of theirs: any of them may vanish."""
        if not queue:
            del self._queues[where]
            return
        task = asyncio.create_task(self._serve(where, queue))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, where: tuple[str, int], queue: _Queue) -> None:
        try:
            while batch := _next(queue, self._orders_max):
                await self._settle(batch)
        finally:
            del self._queues[where]
            for waiter in queue:  # only when the node ends
                _tell(waiter, Refused(errors.DATABASE_UNAVAILABLE))

    async def _settle(self, batch: list[_Waiter]) -> None:
        """Decide a batch, in the time of whoever has the least left, and tell each; nobody is left without a word."""
        outcomes: Sequence[Answer | Exception | None]
        deadline.share(waiter.command for waiter in batch)
        try:
            outcomes = await self._outcomes([waiter.order for waiter in batch])
        except Refused as refused:
            outcomes = [_again(refused) for _ in batch]
        except asyncio.CancelledError:
            for waiter in batch:
                _tell(waiter, Refused(errors.OUTCOME_UNKNOWN))
            raise
        except Exception as error:  # noqa: BLE001 - it is theirs to report, as if each had been alone
            outcomes = [error for _ in batch]
        for waiter, outcome in zip(batch, outcomes, strict=True):
            _tell(waiter, outcome)

    async def _outcomes(self, orders: Sequence[Order]) -> Sequence[Answer | Exception | None]:
        if len(orders) == 1:
            return [await holds.take_alone(self._database, orders[0])]
        try:
            return await self._database.autocommit(lambda connection: take_together(connection, orders))
        except asyncpg.PostgresError:
            # The server refused the statement, so that nothing happened; one of them may be to blame, the others are not.
            return [await self._outcome(order) for order in orders]

    async def _outcome(self, order: Order) -> Answer | Exception | None:
        try:
            return await holds.take_alone(self._database, order)
        except Exception as error:  # noqa: BLE001 - as above
            return error


def _next(queue: _Queue, orders_max: int) -> list[_Waiter]:
    """Take the next to be decided together; the twin of one of them stays, to find the key settled next time."""
    batch: list[_Waiter] = []
    keys: set[str] = set()
    twins: list[_Waiter] = []
    while queue and len(batch) < orders_max:
        waiter = queue.popleft()
        if waiter.told.done():  # its client has gone
            _stop_clock(waiter)
        elif waiter.order.key in keys:
            twins.append(waiter)
        else:
            _stop_clock(waiter)
            keys.add(waiter.order.key)
            batch.append(waiter)
    queue.extendleft(reversed(twins))
    return batch


def _give_up(queue: _Queue, waiter: _Waiter, why: Refusal) -> None:
    """End a wait that has lasted too long, before anything was done about it."""
    queue.remove(waiter)
    _tell(waiter, Refused(why))


def _stop_clock(waiter: _Waiter) -> None:
    if waiter.deadline is not None:
        waiter.deadline.cancel()


def _tell(waiter: _Waiter, outcome: Answer | Exception | None) -> None:
    _stop_clock(waiter)
    if waiter.told.done():
        return
    if isinstance(outcome, Exception):
        waiter.told.set_exception(outcome)
    else:
        waiter.told.set_result(outcome)


def _again(refused: Refused) -> Refused:
    """Return the same refusal for one more who is told it: an exception that is raised twice grows."""
    same = Refused(refused.refusal, retry_after_ms=refused.retry_after_ms)
    same.__cause__ = refused.__cause__
    return same
