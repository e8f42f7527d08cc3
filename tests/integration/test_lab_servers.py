"""The lab's servers can be broken and started again, and a failure says what was wrong and where."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg
import psutil
import pytest
import redis.asyncio as redis

from lastseat import postgres_server as postgres_module
from lastseat import valkey as valkey_module
from lastseat.errors import ExitCode, LabError
from lastseat.lab import Lab
from lastseat.leftovers import Leftover, find_leftovers, remove
from lastseat.ports import on_a_free_port
from lastseat.room import DISK_BYTES_MIN
from tests.integration.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    Starting = Callable[[int], Awaitable[object]]


@pytest.fixture
async def own_lab(tmp_path: Path) -> AsyncIterator[Lab]:
    """A lab of this test's own, to be broken; without a proxy."""
    async with Lab.start(folder=tmp_path, with_toxiproxy=False) as lab:
        yield lab


@asynccontextmanager
async def session(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def test_a_crashed_postgres_starts_again_with_what_was_committed(own_lab: Lab) -> None:
    dsn = await own_lab.create_database("sale")
    async with session(dsn) as connection:
        await connection.execute("CREATE TABLE seats (id int); INSERT INTO seats VALUES (7)")
    port = own_lab.postgres.port
    for _ in range(3):
        await own_lab.postgres.crash()
        with pytest.raises(OSError, match="Connect"):
            await asyncpg.connect(dsn)
        await own_lab.postgres.restart()
        async with session(dsn) as connection:
            assert await connection.fetchval("SELECT id FROM seats") == 7
    assert own_lab.postgres.port == port


async def test_a_postgres_with_a_stopped_backend_crashes_and_starts_again(own_lab: Lab) -> None:
    connection = await asyncpg.connect(own_lab.postgres.admin_dsn)
    os.kill(await connection.fetchval("SELECT pg_backend_pid()"), signal.SIGSTOP)
    await own_lab.postgres.crash()
    await own_lab.postgres.restart()
    connection.terminate()
    async with session(own_lab.postgres.admin_dsn) as again:
        assert await again.fetchval("SELECT 1") == 1


async def test_postgres_stopped_in_good_order_starts_again(own_lab: Lab) -> None:
    await own_lab.postgres.stop()
    with pytest.raises(LabError, match="not running"):
        await own_lab.postgres.stop()
    await own_lab.postgres.restart()
    assert len(own_lab.postgres.family()) > 1


async def test_a_postgres_that_cannot_start_is_reported_with_its_last_lines(own_lab: Lab) -> None:
    await own_lab.postgres.stop()
    assert own_lab.postgres.server
    settings = own_lab.postgres.server.data / "postgresql.conf"
    settings.write_text(settings.read_text() + "\nseats = 'sold out'\n")
    with pytest.raises(LabError, match="ended while starting") as raised:
        await own_lab.postgres.restart()
    assert 'unrecognized configuration parameter "seats"' in raised.value.log_tail
    assert str(own_lab.folder / "logs" / "postgres.log") in raised.value.where
    assert raised.value.exit_code == ExitCode.LAB_FAILED


def first_on(port: int) -> Callable[[Starting, set[int]], Awaitable[object]]:
    async def on_a_free_port_after_this(start: Starting, taken: set[int]) -> object:
        ports = iter([port])
        return await on_a_free_port(lambda free: start(next(ports, free)), taken)

    return on_a_free_port_after_this


async def test_servers_move_on_from_a_port_that_was_taken_meanwhile(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, port in ((postgres_module, lab.postgres.port), (valkey_module, lab.valkey.port)):
        monkeypatch.setattr(module, "on_a_free_port", first_on(port))
    async with Lab.start(folder=tmp_path, with_toxiproxy=False) as other:
        assert {other.postgres.port, other.valkey.port}.isdisjoint({lab.postgres.port, lab.valkey.port})


async def test_a_killed_valkey_starts_again_empty_or_from_a_snapshot(own_lab: Lab, tmp_path: Path) -> None:
    async with redis.from_url(own_lab.redis_url) as client:
        await client.set("permit", "old")
        snapshot = await own_lab.valkey.save(tmp_path / "snapshot.rdb")
        await client.set("permit", "new")
    await own_lab.valkey.crash()
    await own_lab.valkey.restart()
    async with redis.from_url(own_lab.redis_url) as client:
        assert await client.get("permit") is None
    await own_lab.valkey.crash()
    await own_lab.valkey.restart(snapshot=snapshot)
    async with redis.from_url(own_lab.redis_url) as client:
        assert await client.get("permit") == b"old"
    await own_lab.valkey.crash()
    await own_lab.valkey.restart()
    async with redis.from_url(own_lab.redis_url) as client:
        assert await client.get("permit") is None


async def test_a_lab_whose_supervisor_was_killed_says_so_and_still_ends(own_lab: Lab) -> None:
    # It would live for ten minutes: that it is gone at once is the death of its supervisor.
    child = await own_lab.spawn("sleeper", [sys.executable, "-S", "-c", "import time; time.sleep(600)"])
    own_lab.supervision.process.kill()
    with pytest.raises(LabError, match="the supervisor has gone"):
        await child.wait(5)
    assert (child.exited, child.exit_code) == (True, None)
    with pytest.raises(LabError, match="the supervisor has gone"):
        await own_lab.spawn("late", [sys.executable, "-c", ""])

    def left() -> list[Leftover]:
        """Its folder is a leftover as soon as the last of its dying processes has let go of the lock."""
        return [each for each in find_leftovers() if each.marker == own_lab.environment_marker]

    await until(left, "that the lab was found to be left behind")
    assert [remove(leftover) for leftover in left()] == [True]
    assert not own_lab.supervision.folder.exists()


async def test_what_keys_lie_in_the_users_home_is_nothing_to_the_lab(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that home cannot be entered at all, which a test that runs as root cannot tell."""
    (tmp_path / ".postgresql").mkdir()
    for name in ("postgresql.crt", "postgresql.key"):
        (tmp_path / ".postgresql" / name).write_text("no key")
    monkeypatch.setenv("HOME", str(tmp_path))
    async with session(lab.postgres.admin_dsn) as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_servers_of_a_root_runner_run_as_somebody_else(lab: Lab) -> None:
    # Anybody else's servers run as whoever runs the tests; see test_lab_account.py.
    if os.geteuid() != 0:
        pytest.skip("only root hands its servers to another user")
    for child in (lab.postgres.child, lab.valkey.child):
        assert psutil.Process(child.pid).uids().effective != 0


async def test_no_password_can_be_read_from_the_servers_arguments(lab: Lab) -> None:
    secrets = {lab.valkey.password, lab.postgres.address.password}
    for child in (lab.postgres.child, lab.valkey.child):
        assert not any(secret in " ".join(psutil.Process(child.pid).cmdline()) for secret in secrets)
    assert not any(secret in repr(lab) for secret in secrets)


async def test_a_full_disk_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lastseat.room.DISK_BYTES_MIN", DISK_BYTES_MIN * 10**9)
    with pytest.raises(LabError, match="are free"):
        async with Lab.start(folder=tmp_path):
            pass
    assert not (tmp_path / "logs" / "supervisor.log").exists()


async def test_one_failing_part_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(psutil.Process().children())
    monkeypatch.setenv("TOXIPROXY_BIN", "/nowhere/toxiproxy-server")
    with pytest.raises(LabError, match="TOXIPROXY_BIN"):
        async with Lab.start(folder=tmp_path):
            pass
    assert set(psutil.Process().children()) <= before
