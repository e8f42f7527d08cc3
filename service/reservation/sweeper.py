"""The sweep for what is overdue: one leader, a bounded tick, and a bad row that never stops the rest."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import asyncpg

from service import errors
from service.errors import Refused
from service.reservation import expiry, leadership
from service.reservation.leadership import Deposed

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.database import Connection, Database
    from service.reservation.expiry import Due, Summary
    from service.reservation.leadership import Term
    from service.settings import Settings

LOG: Final = logging.getLogger("service.sweeper")
SLOT: Final = "reservation-expiry-sweeper"
_REST_TICKS_MAX: Final = 32


class Outcome(StrEnum):
    """What a tick came to: it led and swept, another leads, or the tick before still runs in this process."""

    ELECTED = "ELECTED"
    SKIPPED = "SKIPPED"
    LOCAL_BUSY = "LOCAL_BUSY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One tick: its outcome, what each resource's transaction did, and how many resources failed."""

    outcome: Outcome
    summaries: tuple[Summary, ...] = ()
    failed: int = 0


@dataclass(slots=True)
class Sweeper:
    """Sweeps under a lease; `instance` names this process and no other."""

    database: Database
    settings: Settings
    instance: str
    monotonic: Callable[[], float] = time.monotonic
    term: Term | None = None
    _busy: bool = False
    _resting: dict[int, int] = field(default_factory=dict)  # resource → ticks to leave it out
    _failures: dict[int, int] = field(default_factory=dict)

    async def run_once(self) -> Sweep:
        """Sweep for one tick, if this process leads and no tick of it is under way."""
        if self._busy:
            return Sweep(outcome=Outcome.LOCAL_BUSY)
        self._busy = True
        try:
            return await self._tick()
        finally:
            self._busy = False

    async def stop(self) -> None:
        """Give the lease back."""
        if self.term is not None:
            await leadership.resign(self.database, self.term)

    async def _tick(self) -> Sweep:
        lease = timedelta(seconds=self.settings.leader_lease_seconds)
        self.term = await leadership.elect(self.database, slot=SLOT, holder=self.instance, lease=lease)
        if self.term is None:
            return Sweep(outcome=Outcome.SKIPPED)
        return await self._sweep(self.term)

    async def _sweep(self, term: Term) -> Sweep:
        deadline = self.monotonic() + self.settings.sweep_budget_seconds
        found = await self.database.read(
            lambda connection: expiry.find_due(
                connection, limit=self.settings.sweep_resources_max, resting=self._rest()
            )
        )
        summaries, failed = [], 0
        for due in found:
            if self.monotonic() >= deadline:
                break
            try:
                summaries.append(await self._finalize(due, term))
                self._failures.pop(due.resource, None)
            except Deposed:
                LOG.warning("deposed", extra={"facts": {"term": term.number}})
                break
            except (Refused, asyncpg.PostgresError) as error:
                if isinstance(error, Refused) and error.refusal is not errors.DATABASE_BUSY:
                    raise  # the database is away, which is no fault of this resource
                failed += 1
                self._let_rest(due, error)
        return Sweep(outcome=Outcome.ELECTED, summaries=tuple(summaries), failed=failed)

    async def _finalize(self, due: Due, term: Term) -> Summary:
        async def work(connection: Connection) -> Summary:
            await leadership.fence(connection, term)
            return await expiry.finalize_expired_resource(
                connection, due, rows=self.settings.sweep_rows_max, term=term.number
            )

        return await self.database.transaction(work)

    def _rest(self) -> list[int]:
        """Return who is left out of this tick, each a tick nearer to its next turn."""
        self._resting = {resource: ticks - 1 for resource, ticks in self._resting.items() if ticks > 0}
        return list(self._resting)

    def _let_rest(self, due: Due, error: Exception) -> None:
        """Leave a failing resource out for a while, doubling, so that it does not take the places of others."""
        failures = self._failures[due.resource] = self._failures.get(due.resource, 0) + 1
        self._resting[due.resource] = min(2 ** (failures - 1), _REST_TICKS_MAX)
        facts = {"resource": due.resource, "failures": failures, "error": repr(error)}
        LOG.error("a resource could not be swept", extra={"facts": facts})
