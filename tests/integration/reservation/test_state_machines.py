"""Each state machine stands three times, and the three agree; terminal rows never change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from service.reservation import rules

CHARTS = (Path(__file__).parents[3] / "docs" / "state-charts.md").read_text(encoding="utf-8")
TABLES = sorted(rules.TRANSITIONS)


def _chart(table: str) -> str:
    return CHARTS.split(f"## {table}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("table", TABLES)
def test_the_chart_shows_the_moves_of_the_rules(table: str) -> None:
    arrows = re.findall(r"^ +(\w+) --> (\w+)", _chart(table), re.MULTILINE)
    assert set(arrows) == rules.TRANSITIONS[table]


def test_every_chart_is_a_machine_of_the_rules() -> None:
    assert sorted(re.findall(r"^## (\w+)$", CHARTS, re.MULTILINE)) == TABLES
    assert set(rules.STATES) == set(TABLES)


@pytest.mark.parametrize("table", TABLES)
async def test_the_schemas_trigger_allows_the_moves_of_the_rules(sql: Any, table: str) -> None:
    definition = await sql.fetchval(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = $1", f"{table}_moves"
    )
    assert set(re.findall(r"'(\w+)>(\w+)'", definition)) == rules.TRANSITIONS[table]


@pytest.mark.parametrize("table", TABLES)
async def test_the_schemas_check_allows_the_states_of_the_rules(sql: Any, table: str) -> None:
    definition = await sql.fetchval(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1", f"{table}_state_check"
    )
    assert set(re.findall(r"'(\w+)'::text", definition)) == {str(state) for state in rules.STATES[table]}


async def test_a_terminal_row_never_changes(sql: Any, room: Any) -> None:
    hold = await sql.fetchval(
        """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           VALUES ('demo', $1, 'alice', 'k', 1, 1, now(), now()) RETURNING id""",
        await room(),
    )
    await sql.execute("UPDATE holds SET state = 'EXPIRED', ended_at = now() WHERE id = $1", hold)
    for change in (
        "quantity = 2",
        "state = 'ACTIVE', ended_at = NULL",
        "state = 'CONFIRMED'",
        "revision = 5",
    ):
        with pytest.raises(asyncpg.CheckViolationError):
            await sql.execute(f"UPDATE holds SET {change} WHERE id = $1", hold)


async def test_a_closed_resource_never_opens_again_but_its_count_may_fall(sql: Any, room: Any) -> None:
    full = await room(occupied=1)
    await sql.execute("UPDATE resources SET state = 'CLOSED' WHERE id = $1", full)
    await sql.execute("UPDATE resources SET occupied_count = 0 WHERE id = $1", full)
    with pytest.raises(asyncpg.CheckViolationError):
        await sql.execute("UPDATE resources SET state = 'OPEN' WHERE id = $1", full)


@pytest.mark.parametrize("count", [-1, 2])
async def test_no_count_is_below_nothing_or_above_the_capacity(sql: Any, room: Any, count: int) -> None:
    full = await room(capacity=1)
    with pytest.raises(asyncpg.CheckViolationError, match="resources_never_oversold"):
        await sql.execute("UPDATE resources SET occupied_count = $2 WHERE id = $1", full, count)


async def test_every_table_tells_its_old_rows_in_full(sql: Any) -> None:
    identities = await sql.fetch(
        "SELECT relname, relreplident FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    partial = {row["relname"] for row in identities if row["relreplident"] != b"f"}
    assert partial == {"schema_versions"}
    assert len(identities) == 10
