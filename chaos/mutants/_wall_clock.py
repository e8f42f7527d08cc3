"""A sweep that goes by the time on the worker's wall, in whatever zone it lives."""

from __future__ import annotations

from datetime import UTC, datetime, timezone
from typing import TYPE_CHECKING, Any, Final

from service.reservation import expiry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from service.reservation.expiry import Due, Summary

REPORTS: Final = ("pretix/pretix#296", "gitcoinco/web#6790", "bakaphp/kanvas-ecosystem-api#3664")
"""The public reports of a local time that was taken for the database's."""


def sweep_by_it(east_of_greenwich: timedelta) -> None:
    """Let the sweep go by a clock that far ahead, or behind where it is negative."""
    here = timezone(east_of_greenwich)
    healthy_find_due, healthy_finalize = expiry.find_due, expiry.finalize_expired_resource

    def now() -> datetime:
        # The time on the wall without its zone, which the database reads as its own.
        return datetime.now(here).replace(tzinfo=UTC)

    async def find_due(
        connection: Any, *, limit: int, resting: Sequence[int] = (), at: datetime | None = None
    ) -> list[Due]:
        return await healthy_find_due(connection, limit=limit, resting=resting, at=at or now())

    async def finalize_expired_resource(
        connection: Any, due: Due, *, rows: int, term: int | None = None, at: datetime | None = None
    ) -> Summary:
        return await healthy_finalize(connection, due, rows=rows, term=term, at=at or now())

    expiry.find_due = find_due
    expiry.finalize_expired_resource = finalize_expired_resource
