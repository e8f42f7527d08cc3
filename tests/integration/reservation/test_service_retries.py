"""What collides is tried again, a bounded number of times, and nobody sees it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable


async def test_a_deadlock_is_tried_again_and_never_shown(
    service: Any, sessions: Any, until: Callable[..., Any]
) -> None:
    first, second = await service.resource(1), await service.resource(1)
    rival = await sessions.open()
    tries = 0

    async def work(connection: Any) -> str:
        nonlocal tries
        tries += 1
        # The deadlock has to be what ends the wait, on a busy machine too.
        patient = "".join(
            f"SET LOCAL {name}_timeout = '30s';" for name in ("lock", "statement", "transaction")
        )
        await connection.execute(f"{patient} SET LOCAL deadlock_timeout = '10ms'")
        await connection.execute("SELECT FROM resources WHERE id = $1 FOR UPDATE", first)
        if tries == 1:
            await rival.execute("BEGIN")
            await rival.execute("SELECT FROM resources WHERE id = $1 FOR UPDATE", second)
            await sessions.blocked(
                rival, rival.execute("SELECT FROM resources WHERE id = $1 FOR UPDATE", first)
            )
        await connection.execute("SELECT FROM resources WHERE id = $1 FOR UPDATE", second)
        return "done"

    async def give_way() -> None:
        await until(lambda: tries == 2, "the second try")
        await asyncio.gather(*sessions.tasks)
        await rival.execute("ROLLBACK")

    done, _ = await asyncio.gather(service.pool.transaction(work), give_way())
    assert (done, tries) == ("done", 2)


@pytest.mark.parametrize("way", ["transaction", "autocommit"])
@pytest.mark.parametrize("state", ["40001", "40P01"])
async def test_what_collides_is_tried_again_only_so_often(
    pool: Any, settings: Any, way: str, state: str
) -> None:
    tries = 0

    async def collide(connection: Any) -> None:
        nonlocal tries
        tries += 1
        await connection.execute(f"DO $$ BEGIN RAISE SQLSTATE '{state}'; END $$")

    with pytest.raises(Refused) as refused:
        await getattr(pool, way)(collide)
    assert refused.value.refusal.code == "DATABASE_BUSY"
    assert tries == settings.transaction_attempts_max
    assert pool.in_use == 0
