"""After the load the bench waits until nothing is owed, and keeps what still is as evidence."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg
import pyarrow.parquet as pq
import pytest

from lastseat import settling as settling_module
from lastseat.errors import LabError
from lastseat.samples import sampling
from lastseat.settling import OLDEST, OPEN_TRANSACTIONS, RESTLESS, SOURCE, owed, settle
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import Unsettled

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DUE = Unsettled(what="debts", query="SELECT count(*) FROM debts WHERE due <= $1")
MUCH_SECONDS = 20.0


@pytest.fixture
async def debts(database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database)
    await connection.execute("CREATE TABLE debts (due timestamptz)")
    yield connection
    await connection.close()


async def owe(connection: asyncpg.Connection, seconds: float) -> None:
    await connection.execute(
        "INSERT INTO debts VALUES (clock_timestamp() + make_interval(secs => $1))", seconds
    )


@asynccontextmanager
async def settling(database: str, folder: Path, *, within: float) -> AsyncIterator[Any]:
    said: list[str] = []

    async def settled() -> tuple[dict[str, int], list[str]]:
        async with sampling(folder) as samples:
            left = await settle(database, [DUE], within_seconds=within, samples=samples, say=said.append)
        return dict(left), said

    task = asyncio.create_task(settled())
    yield task
    await task


def last_looks(folder: Path) -> dict[str, float]:
    rows = pq.read_table(folder / "samples.parquet").to_pylist()
    return {row["metric"]: row["value"] for row in rows if row["source"] == SOURCE}


async def test_it_waits_for_what_will_end_soon(
    debts: asyncpg.Connection, database: str, tmp_path: Path
) -> None:
    await owe(debts, 1.0)
    async with settling(database, tmp_path, within=MUCH_SECONDS) as task:
        await asyncio.wait({task}, timeout=0.5)
        assert not task.done()
        await debts.execute("DELETE FROM debts")
    assert task.result()[0] == {}
    assert last_looks(tmp_path) == {OPEN_TRANSACTIONS: 0, "debts": 0}


async def test_a_deadline_far_beyond_the_run_is_not_waited_for(
    debts: asyncpg.Connection, database: str, tmp_path: Path
) -> None:
    await owe(debts, MUCH_SECONDS)
    async with settling(database, tmp_path, within=MUCH_SECONDS) as task:
        done, _ = await asyncio.wait({task}, timeout=MUCH_SECONDS / 2)
        assert done
    assert task.result()[0] == {}


async def test_what_is_left_at_the_bound_is_evidence_and_no_failure_of_the_lab(
    debts: asyncpg.Connection, database: str, tmp_path: Path
) -> None:
    for _ in range(3):
        await owe(debts, 0.0)
    async with settling(database, tmp_path, within=1.5) as task:
        pass
    left, said = task.result()
    assert left == {"debts": 3}
    assert said[0] == "waiting for 3 debts"
    assert said[-1] == "still unsettled after 1.5 s: 3 debts"
    assert last_looks(tmp_path)["debts"] == 3


@pytest.mark.usefixtures("debts")
async def test_a_service_that_never_comes_to_rest_is_evidence_though_the_last_look_was_quiet(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling_module, "QUIET_LOOKS", 1_000)
    async with settling(database, tmp_path, within=1.0) as task:
        pass
    left, said = task.result()
    assert left == {}
    assert said == ["still unsettled after 1 s: nothing, but never for long enough"]
    assert last_looks(tmp_path)[RESTLESS] > 1, "nothing_left_behind reports whatever is not 0 here"


async def test_an_open_transaction_is_waited_for(
    debts: asyncpg.Connection, database: str, tmp_path: Path
) -> None:
    transaction = debts.transaction()
    await transaction.start()
    async with settling(database, tmp_path, within=MUCH_SECONDS) as task:
        await asyncio.wait({task}, timeout=0.5)
        assert not task.done()
        await transaction.rollback()
    assert task.result()[0] == {}


async def test_how_long_a_transaction_was_open_is_evidence(
    debts: asyncpg.Connection, database: str, tmp_path: Path
) -> None:
    async with debts.transaction(), settling(database, tmp_path, within=1.0):
        pass
    rows = pq.read_table(tmp_path / "samples.parquet").to_pylist()
    ages = [row["value"] for row in rows if (row["source"], row["metric"]) == OLDEST]
    assert ages[-1] > ages[0] > 0
    assert ages == sorted(ages), "one transaction only grows older"


async def test_a_database_that_does_not_come_back_fails_the_lab(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="did not come back within"):
        async with settling("postgresql://nobody@127.0.0.1:1/none", tmp_path, within=0.3):
            pass


def test_nobody_waits_for_a_worker_that_is_not_there() -> None:
    alone = {each.what for each in owed(Builtin().unsettled, staff=())}
    assert alone == {"claimed keys without an answer"}
    assert {each.settled_by for each in owed(Builtin().unsettled, staff=("expiry",))} == {None, "expiry"}
