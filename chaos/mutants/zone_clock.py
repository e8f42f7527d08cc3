"""The sweeper lives in the east and goes by its own clock: every hold is over as soon as it is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import expiry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.reservation.expiry import Due, Summary

MUTANT: Final = Mutant(
    name="zone-clock",
    mechanism="Sweeps by the local time of the worker, taken for the database's: east of Greenwich holds end hours before their time.",
    section="holds",
    reports=("pretix/pretix#296", "gitcoinco/web#6790", "bakaphp/kanvas-ecosystem-api#3664"),
    scenario="offer_expiry",
    caught_by=("nothing_expires_early",),
)

HERE: Final = timezone(timedelta(hours=9))
_find_due = expiry.find_due
_finalize = expiry.finalize_expired_resource


def plant() -> None:
    """Let the sweep go by a clock that is nine hours ahead."""
    expiry.find_due = find_due
    expiry.finalize_expired_resource = finalize_expired_resource


def local_now() -> datetime:
    """Return the time on the wall, without its zone, where the database reads it as its own."""
    return datetime.now(HERE).replace(tzinfo=UTC)


async def find_due(
    connection: Any, *, limit: int, resting: Sequence[int] = (), at: datetime | None = None
) -> list[Due]:
    """Look for what is over by the clock on the wall."""
    return await _find_due(connection, limit=limit, resting=resting, at=at or local_now())


async def finalize_expired_resource(
    connection: Any, due: Due, *, rows: int, term: int | None = None, at: datetime | None = None
) -> Summary:
    """End what is over by the clock on the wall."""
    return await _finalize(connection, due, rows=rows, term=term, at=at or local_now())
