"""Who waited in vain is told why: the pool was full, or the database could not be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from service import errors
from service.database import Database
from service.settings import Settings

if TYPE_CHECKING:
    from service.errors import Refusal

SETTINGS = Settings(database_url="postgresql://", token_secret="t" * 32, owner_secret="o" * 32)


class JustTooLate:
    """A pool in the instant after a wait has ended in vain; real pools are there too briefly to be caught at it."""

    def __init__(self, *, opened: int, idle: int, most: int) -> None:
        self.opened, self.idle, self.most = opened, idle, most

    async def acquire(self, *, timeout: float) -> None:  # noqa: ASYNC109 - the signature of asyncpg's pool
        raise TimeoutError(timeout)

    def get_size(self) -> int:
        return self.opened

    def get_idle_size(self) -> int:
        return self.idle

    def get_max_size(self) -> int:
        return self.most


@pytest.mark.parametrize(
    ("opened", "idle", "most", "told"),
    [
        (2, 0, 2, errors.POOL_EXHAUSTED),
        (2, 1, 2, errors.POOL_EXHAUSTED),  # one came back a moment after the deadline
        (15, 0, 16, errors.POOL_EXHAUSTED),  # one was cut and is opened again; the others are all lent
        (1, 0, 2, errors.DATABASE_UNAVAILABLE),  # the second could not be opened in time
    ],
)
async def test_a_connection_that_came_back_too_late_does_not_make_the_database_unavailable(
    opened: int, idle: int, most: int, told: Refusal
) -> None:
    database = Database(JustTooLate(opened=opened, idle=idle, most=most), SETTINGS)
    with pytest.raises(errors.Refused) as refused:
        async with database.connection():
            pytest.fail("no connection was to be had")
    assert refused.value.refusal is told
