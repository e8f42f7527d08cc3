"""Whatever people, administrators and sweepers do at the same time, every rule of the control plane holds at every commit.

Hypothesis makes up small examples: a resource, and steps whose commands run at the same time over several nodes' own
connections. After each step, and amid some, all invariants are judged by plain SQL in one snapshot. How many examples:
LASTSEAT_STATEFUL_EXAMPLES (150 unless set; `make catalogue` plays 1,500). A failing example is printed with everything
that everybody was told.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.integration.reservation.stateful.commands import Example, examples
from tests.integration.reservation.stateful.stage import open_stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import asyncpg

    from service.settings import Settings
    from tests.integration.reservation.stateful.stage import Stage


@pytest.fixture
async def stage(make_settings: Callable[..., Settings], sql: asyncpg.Connection) -> AsyncIterator[Stage]:
    async with open_stage(make_settings(pool_connections_max=6, lock_timeout_ms=5_000)) as made:
        yield made
    # The sessions tell of theirs when they end. A deadlock would be tried again, and yet the order of locks allows none.
    assert (
        await sql.fetchval("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0
    )


EXAMPLES = int(os.environ.get("LASTSEAT_STATEFUL_EXAMPLES", "150"))


@pytest.mark.timeout(120 + EXAMPLES)
@settings(
    max_examples=EXAMPLES,
    deadline=None,  # twins may wait for one another
    database=None,
    phases=[Phase.generate, Phase.shrink],
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(example=examples())
async def test_every_rule_holds_whoever_does_what_at_the_same_time(stage: Stage, example: Example) -> None:
    await stage.play(example)
