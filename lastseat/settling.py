"""Settling: after the load, wait until the service owes nothing any more, so that the state is read at rest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import asyncpg

from lastseat.errors import LabError
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from lastseat.samples import Samples
    from scenarios.targets.target import Unsettled

SOURCE = "unsettled"
"""The source of the samples that tell what was owed at each look; the last of each metric is what was left behind."""
OPEN_TRANSACTIONS = "open transactions"
OLDEST = ("database", "transaction_seconds")
"""Source and metric of the samples that tell how long the oldest of them has been open; 0: none is."""
RESTLESS = "looks of which no two in a row were quiet"
"""What is noted where the time was up although the last look found nothing: the state is then not one at rest."""

CONNECT_SECONDS = 5.0
LOOK_SECONDS = 10.0
EVERY_SECONDS = 0.05
TELL_SECONDS = 1.0
QUIET_LOOKS = 2
"""How many looks in a row must find nothing under way: between two statements a command looks idle."""
AHEAD_SHARE = 0.5
"""Deadlines in this share of the time to wait are waited for; one that is farther away is no matter of this run."""

_HORIZON = "SELECT clock_timestamp() + make_interval(secs => $1)"
_OPEN = """
SELECT count(*) AS many, coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 AS seconds
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND application_name NOT LIKE 'lastseat%' AND xact_start IS NOT NULL
"""


class _StillOwedError(LabError):
    """The time to wait is up."""


def owed(unsettled: Sequence[Unsettled], *, staff: Collection[str]) -> tuple[Unsettled, ...]:
    """Return what a run can wait for: what settles by itself, or by a kind of worker that is there."""
    return tuple(each for each in unsettled if each.settled_by is None or each.settled_by in staff)


async def settle(
    dsn: str,
    awaited: Sequence[Unsettled],
    *,
    within_seconds: float,
    samples: Samples,
    say: Callable[[str], None],
) -> Mapping[str, int]:
    """Wait until nothing is owed and no transaction is open; return what still was at the bound, empty when nothing.

    Every look is kept as samples. Raises LabError only where the database itself does not answer.
    """
    connection = await _connect(dsn, within_seconds)
    try:
        horizon = await connection.fetchval(_HORIZON, within_seconds * AHEAD_SHARE, timeout=LOOK_SECONDS)
        looks = _Looks(connection, awaited, horizon, samples, say)
        try:
            await until(
                looks.quiet,
                within_seconds=within_seconds,
                failing=_StillOwedError,
                every_seconds=EVERY_SECONDS,
            )
        except _StillOwedError as bound:
            if looks.left is None:
                raise LabError(f"the database did not say what is unsettled: {bound}") from None
            if not looks.left:
                samples.note(SOURCE, RESTLESS, float(looks.many))
            say(
                f"still unsettled after {within_seconds:g} s: {_spelled(looks.left) or 'nothing, but never for long enough'}"
            )
            return looks.left
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as lost:
        raise LabError(
            f"the database was lost while the service settled: {lost}", remedy="see logs/postgres.log"
        ) from lost
    else:
        return {}
    finally:
        connection.terminate()


class _Looks:
    """One look after the other at what is owed; `left` is what the last one found, `many` counts them."""

    def __init__(
        self,
        connection: asyncpg.Connection,
        awaited: Sequence[Unsettled],
        horizon: object,
        samples: Samples,
        say: Callable[[str], None],
    ) -> None:
        self.left: Mapping[str, int] | None = None
        self.many = 0
        self._connection = connection
        self._awaited = awaited
        self._horizon = horizon
        self._samples = samples
        self._say = say
        self._quiet_in_a_row = 0
        self._told = time.monotonic()

    async def quiet(self) -> bool | None:
        """Look, and answer True once enough looks in a row have found nothing."""
        self.many += 1
        still_open = await self._connection.fetchrow(_OPEN, timeout=LOOK_SECONDS)
        self._samples.note(*OLDEST, still_open["seconds"])
        counts = {OPEN_TRANSACTIONS: int(still_open["many"])}
        for each in self._awaited:
            counts[each.what] = await self._count(each.query, self._horizon)
        for what, count in counts.items():
            self._samples.note(SOURCE, what, float(count))
        self.left = {what: count for what, count in counts.items() if count}
        self._quiet_in_a_row = 0 if self.left else self._quiet_in_a_row + 1
        self._tell(self.left)
        return True if self._quiet_in_a_row >= QUIET_LOOKS else None

    def _tell(self, left: Mapping[str, int]) -> None:
        now = time.monotonic()
        if left and now - self._told >= TELL_SECONDS:
            self._told = now
            self._say(f"waiting for {_spelled(left)}")

    async def _count(self, query: str, *parameters: object) -> int:
        return int(await self._connection.fetchval(query, *parameters, timeout=LOOK_SECONDS))


async def _connect(dsn: str, within_seconds: float) -> asyncpg.Connection:
    """Connect as soon as the database lets anybody in: it may still be recovering from a crash."""

    async def connected() -> asyncpg.Connection:
        try:
            return await asyncpg.connect(
                dsn, timeout=CONNECT_SECONDS, server_settings={"application_name": "lastseat settle"}
            )
        except asyncpg.CannotConnectNowError as recovering:
            raise OSError(str(recovering)) from recovering

    return await until(
        connected,
        within_seconds=within_seconds,
        failing=lambda problem: LabError(
            f"the database did not come back within {within_seconds:g} s: {problem}",
            remedy="see logs/postgres.log in the run folder",
        ),
    )


def _spelled(left: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in left.items())
