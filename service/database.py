"""Connections, transactions, and what a broken one leaves known or unknown.

From the first byte sent of a COMMIT, or of a statement that commits by itself, until its result is read, a reset,
a timeout or a cancellation leaves the outcome *unknown*. Before that, failure is definite.
"""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import asyncpg

from service import deadline, errors
from service.deadline import TooLate
from service.errors import Refused
from service.session import (
    BROKEN,
    Patience,
    Session,
    connection_options,
    ends_the_session,
    is_unfit,
    opened_ms,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from service.settings import Settings

Connection = Any  # asyncpg publishes no types; a PoolConnectionProxy here
T = TypeVar("T")

_RETRIED: Final = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
_TIMED_OUT: Final = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError)
_RETRY_PAUSE_SECONDS: Final = 0.02


class Database:
    """The pool of one process; boots without a server and connects when first asked."""

    def __init__(self, pool: Any, settings: Settings, *, for_commands: bool = False) -> None:
        self._pool = pool
        self._settings = settings
        self._patience = Patience(settings, opened_ms=opened_ms(settings, for_commands=for_commands))
        self._connections_max = int(pool.get_max_size())

    @classmethod
    async def open(
        cls,
        settings: Settings,
        *,
        application: str,
        connections_max: int | None = None,
        for_commands: bool = False,
    ) -> Database:
        """Make the pool; it connects lazily, so that a node boots while the database is away.

        `for_commands`: most that use it have a deadline.
        """
        statement_ms = opened_ms(settings, for_commands=for_commands)
        pool = await asyncpg.create_pool(
            min_size=0,
            max_size=connections_max or settings.pool_connections_max,
            max_queries=sys.maxsize,
            max_inactive_connection_lifetime=0,
            reset=_reset,
            connection_class=Session,
            **connection_options(settings, application, statement_ms=statement_ms),
        )
        return cls(pool, settings, for_commands=for_commands)

    async def warm(self) -> None:
        """Open the pool's first connections ahead of the first request; raises Refused where it cannot."""
        async with asyncio.TaskGroup() as group:
            barrier = asyncio.Barrier(min(self._settings.pool_connections_min, self._connections_max))
            for _ in range(barrier.parties):
                group.create_task(self._open_one(barrier))

    async def _open_one(self, barrier: asyncio.Barrier) -> None:
        async with self.connection():
            await barrier.wait()

    async def close(self) -> None:
        """Close the pool, within the shutdown's patience; what is still busy then is cut."""
        try:
            async with asyncio.timeout(self._settings.shutdown_seconds):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    @property
    def in_use(self) -> int:
        """How many connections are lent out now."""
        return int(self._pool.get_size() - self._pool.get_idle_size())

    @property
    def open_connections(self) -> int:
        """How many connections are open now."""
        return int(self._pool.get_size())

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection; raises Refused, definite, where none is had.

        POOL_EXHAUSTED, DATABASE_UNAVAILABLE, or DEADLINE_PASSED where it was not given its own time to be there. A server
        that lets half of the pool in and no more looks like a full pool.
        """
        patience_seconds = self._settings.pool_acquire_ms / 1_000
        if (left_seconds := deadline.work_seconds_left(patience_seconds)) <= 0:
            raise Refused(errors.DEADLINE_PASSED)
        try:
            lent = await self._pool.acquire(timeout=left_seconds)
        except TimeoutError:
            # Not those in use: on a busy machine one may have come back between the deadline and this line.
            # Nor all: while one that was cut is opened again, those who wait still wait for the others'.
            if self.open_connections * 2 > self._connections_max:
                raise Refused(errors.POOL_EXHAUSTED) from None
            hurried = left_seconds < patience_seconds
            raise Refused(errors.DEADLINE_PASSED if hurried else errors.DATABASE_UNAVAILABLE) from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise Refused(errors.DATABASE_UNAVAILABLE) from error
        try:
            yield lent
        except asyncio.CancelledError:
            _cut(lent)  # an answer may still be on its way to it
            raise
        finally:
            # A patience of its own: by default it would be that of the acquire, with next to nothing left maybe.
            await self._pool.release(lent, timeout=patience_seconds)

    async def autocommit(self, run: Callable[[Connection], Awaitable[T]]) -> T:
        """Run one statement that commits by itself; raises Refused, OUTCOME_UNKNOWN where its result was lost."""
        return await self._attempts(run, self._one_statement)

    async def transaction(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `work` in a READ COMMITTED transaction, again after a deadlock or serialization failure (bounded).

        Raises Refused: OUTCOME_UNKNOWN only where the COMMIT's result was lost. Whatever `work` raises rolls back.
        """
        return await self._attempts(work, self._one_transaction)

    async def _attempts(
        self,
        work: Callable[[Connection], Awaitable[T]],
        once: Callable[[Callable[[Connection], Awaitable[T]]], Awaitable[T]],
    ) -> T:
        clock = asyncio.get_running_loop().time
        for attempt in range(1, self._settings.transaction_attempts_max + 1):
            began = clock()
            try:
                return await once(work)
            except _RETRIED:
                pause = random.uniform(0, _RETRY_PAUSE_SECONDS * 2**attempt)  # noqa: S311 - jitter
                takes = clock() - began
                last = attempt == self._settings.transaction_attempts_max
                if last or deadline.work_seconds_left() < pause + takes:
                    break
            await asyncio.sleep(pause)
        raise Refused(errors.DATABASE_BUSY)

    async def read(self, run: Callable[[Connection], Awaitable[T]]) -> T:
        """Run statements that change nothing; raises Refused, always definite."""
        async with self.connection() as connection:
            with _translated(connection, sent=False):
                await self._patience.of_session(connection)
                async with deadline.cut():
                    return await run(connection)

    async def _one_statement(self, run: Callable[[Connection], Awaitable[T]]) -> T:
        async with self.connection() as connection:
            with _translated(connection, sent=False):
                await self._patience.of_session(connection)
            with _translated(connection, sent=True):
                return await run(connection)

    async def _one_transaction(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self.connection() as connection:
            with _translated(connection, sent=False):
                async with deadline.cut():
                    result = await self._in_transaction(connection, work)
            with _translated(connection, sent=True):
                if await connection.execute("COMMIT") != "COMMIT":
                    raise RuntimeError("the work went on after a failure, and its COMMIT rolled back")
            return result

    async def _in_transaction(self, connection: Connection, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Begin and do everything but commit."""
        await connection.execute(self._patience.of_transaction(connection))
        try:
            return await work(connection)
        except Exception as error:  # a cancellation cuts the connection, and the transaction with it
            if ends_the_session(error):
                _cut(connection)  # asked to roll back, a silent server would cost a timeout more
            else:
                await _roll_back(connection)
            raise


class _translated:  # noqa: N801 - reads as a clause at the `with`
    """Turn the driver's errors into refusals; after `sent`, a broken connection means an unknown outcome."""

    def __init__(self, connection: Connection, *, sent: bool) -> None:
        self._connection = connection
        self._sent = sent

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, (Refused, *_RETRIED)):
            return
        if isinstance(error, TooLate):
            _cut(self._connection)
        if isinstance(error, (TooLate, *_TIMED_OUT)):
            raise Refused(errors.DATABASE_BUSY) from error
        if is_unfit(error):
            # The server's own word that nothing was done; after a failover another one may stand behind the address.
            _cut(self._connection)
            raise Refused(errors.DATABASE_UNAVAILABLE) from error
        if ends_the_session(error):
            # Its stream may still carry the answer to what was given up: the next user would read it.
            _cut(self._connection)
            # The server may end a session after it has committed and before it says so: 57P01 proves nothing.
            raise Refused(errors.OUTCOME_UNKNOWN if self._sent else errors.DATABASE_UNAVAILABLE) from error


async def _roll_back(connection: Connection) -> None:
    """Roll back if the connection still listens; a broken one takes its transaction with it."""
    try:
        await connection.execute("ROLLBACK")
    except (*BROKEN, asyncpg.PostgresError):
        _cut(connection)


def _cut(connection: Connection) -> None:
    """End a connection at once; one that broke by itself is back in the pool already and takes no more calls."""
    with suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _reset(connection: Connection) -> None:
    """Give a connection back as it came, but for its statement timeout, which the next to use it sees to (Patience)."""
    if connection.is_in_transaction():
        await connection.execute("ROLLBACK")
