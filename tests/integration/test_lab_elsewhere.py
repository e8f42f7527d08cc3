"""Servers that were there already are looked at closely, used with care, and left as they were."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import asyncpg
import pytest
import redis.asyncio as redis

from lastseat import elsewhere, postgres_server
from lastseat.elsewhere import is_loopback
from lastseat.errors import ExitCode, LabError, UsageError
from lastseat.lab import Lab
from lastseat.waiting import until

pytestmark = pytest.mark.usefixtures("redis_url")


@pytest.fixture
def given(lab: Lab) -> dict[str, str]:
    """The session's own servers, in the role of somebody else's."""
    return {
        "database_url": lab.postgres.admin_dsn,
        "redis_url": lab.redis_url.removesuffix("0") + "9",
        "toxiproxy_url": f"http://{lab.toxiproxy.host}:{lab.toxiproxy.port}",
    }


async def databases(lab: Lab) -> set[str]:
    session = await asyncpg.connect(lab.postgres.admin_dsn)
    try:
        return {row["datname"] for row in await session.fetch("SELECT datname FROM pg_database")}
    finally:
        await session.close()


async def test_databases_made_in_a_given_server_are_dropped_with_their_slots(
    lab: Lab, given: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = await databases(lab)
    async with Lab.start(folder=tmp_path_factory.mktemp("given"), **given) as other:
        dsn = await other.create_database("sale")
        session = await asyncpg.connect(dsn)
        await session.execute("CREATE TABLE seats (id int)")
        await session.fetch(
            "SELECT pg_create_logical_replication_slot($1, 'pgoutput')", other.environment_marker
        )
        assert len(await databases(lab)) == len(before) + 1
    session.terminate()
    assert await databases(lab) == before


async def test_a_database_is_dropped_while_its_trail_is_being_read(lab: Lab) -> None:
    dsn = await lab.create_database("being_read")
    bundle = postgres_server.bundle()
    argv = [
        *(str(bundle.root / bundle.program).replace("bin/postgres", "bin/pg_recvlogical"), "--dbname", dsn),
        *("--slot", "reader", "--create-slot", "--start", "--file", "-", "--no-loop"),
    ]
    reader = await lab.spawn("reader", argv)
    session = await asyncpg.connect(lab.postgres.admin_dsn)

    async def is_read() -> bool | None:
        return (
            await session.fetchval("SELECT active FROM pg_replication_slots WHERE slot_name = 'reader'")
            or None
        )

    try:
        await until(is_read, within_seconds=10, failing=lambda _: reader.error("the slot is not being read"))
        await lab.drop_database(dsn)
        assert (
            await session.fetchval("SELECT count(*) FROM pg_replication_slots WHERE slot_name = 'reader'")
            == 0
        )
    finally:
        await session.close()
    assert await reader.wait(10) != 0


async def test_a_given_server_is_not_the_labs_to_break(
    given: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with Lab.start(folder=tmp_path_factory.mktemp("given"), **given) as other:
        assert not other.postgres.embedded
        assert other.toxiproxy.child is None
        for breaking in (other.postgres.crash, other.postgres.stop, other.valkey.crash, other.valkey.restart):
            with pytest.raises(LabError, match="not the lab's to stop or break"):
                await breaking()


async def test_a_database_that_the_lab_did_not_create_is_not_dropped(lab: Lab) -> None:
    with pytest.raises(LabError, match="was not created by this lab"):
        await lab.drop_database(lab.postgres.dsn("postgres"))


async def test_a_database_can_be_a_copy_of_another(lab: Lab) -> None:
    template = await lab.create_database("a_template")
    session = await asyncpg.connect(template)
    await session.execute("CREATE TABLE seats AS SELECT 7 AS id")
    await session.close()
    copy = await lab.create_database("a_copy", template="a_template")
    session = await asyncpg.connect(copy)
    assert await session.fetchval("SELECT id FROM seats") == 7
    await session.close()
    for dsn in (copy, template):
        await lab.drop_database(dsn)


async def test_a_database_that_exists_already_is_refused(lab: Lab) -> None:
    with pytest.raises(LabError, match="already exists"):
        await lab.create_database("postgres")


@pytest.mark.parametrize(
    ("option", "url"),
    [
        ("database_url", "postgresql://app:secret@db.example.com:5432/app"),
        ("database_url", "postgresql://app:secret@192.0.2.1/app"),
        ("redis_url", "redis://:secret@10.0.0.7:6379/0"),
        ("toxiproxy_url", "http://192.0.2.1:8474"),
        ("database_url", "mysql://app:secret@127.0.0.1/app"),
        ("database_url", "postgresql://app:secret@127.0.0.1:notaport/app"),
        ("database_url", "postgresql://app:secret@[::1/app"),
        ("redis_url", "redis:///0"),
    ],
)
async def test_urls_that_lead_elsewhere_or_nowhere_are_refused_without_telling_their_secret(
    option: str, url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(UsageError) as raised:
        async with Lab.start(folder=tmp_path_factory.mktemp("refused"), **{option: url}):
            pass
    assert raised.value.exit_code == ExitCode.USAGE
    assert f"--{option.replace('_', '-')}" in str(raised.value)
    assert "secret" not in str(raised.value)


async def test_a_redis_database_with_somebodys_keys_in_it_is_refused(
    lab: Lab, given: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async with redis.from_url(given["redis_url"]) as client:
        await client.set("precious", "1")
        with pytest.raises(UsageError, match="holds 1 keys, which a run would flush"):
            async with Lab.start(folder=tmp_path_factory.mktemp("full"), **given):
                pass
        assert await client.delete("precious") == 1
    assert lab.redis_url != given["redis_url"]


async def test_a_server_that_loses_what_it_said_was_kept_is_refused(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres_server._SETTINGS, "fsync", "off")
    folder = tmp_path_factory.mktemp
    async with Lab.start(folder=folder("fsync"), with_toxiproxy=False) as other:
        with pytest.raises(UsageError, match="fsync = off; on is needed"):
            async with Lab.start(folder=folder("refused"), database_url=other.postgres.admin_dsn):
                pass


async def test_a_user_without_replication_is_let_in_and_told_that_there_is_no_trail(lab: Lab) -> None:
    assert (await elsewhere.postgres(lab.postgres.admin_dsn)).no_trail == ""
    session = await asyncpg.connect(lab.postgres.admin_dsn)
    plain = replace(lab.postgres.address, user="plain", password="plain")
    try:
        await session.execute("CREATE ROLE plain LOGIN PASSWORD 'plain'")
        with pytest.raises(UsageError, match="may not create databases"):
            await elsewhere.postgres(plain.dsn("postgres"))
        await session.execute("ALTER ROLE plain CREATEDB")
        found = await elsewhere.postgres(plain.dsn("postgres"))
        await session.execute("DROP ROLE plain")
    finally:
        await session.close()
    assert "may not use replication" in found.no_trail


@pytest.mark.parametrize(
    ("option", "scheme"), [("database_url", "postgresql"), ("redis_url", "redis"), ("toxiproxy_url", "http")]
)
async def test_a_given_server_that_does_not_answer_is_a_failed_lab(
    option: str, scheme: str, lab: Lab, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = f"127.0.0.1:{lab.free_port()}"
    with pytest.raises(LabError) as raised:
        async with Lab.start(folder=tmp_path_factory.mktemp("silent"), **{option: f"{scheme}://{where}"}):
            pass
    assert raised.value.where == where
    assert option.replace("_", "-") in raised.value.remedy


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"+PONG\r\n", "does not answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "no Toxiproxy 2"),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"version": "1.2.1"}', "no Toxiproxy 2"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe", "does not answer"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "does not answer"),
    ],
)
async def test_what_is_no_toxiproxy_of_today_is_not_taken_for_one(answer: bytes, said: str) -> None:
    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(pretend, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        with pytest.raises((LabError, UsageError), match=said):
            await elsewhere.toxiproxy(f"http://{host}:{port}")
    finally:
        server.close()


async def test_a_database_url_with_a_setting_that_nobody_knows_is_a_clear_failure() -> None:
    with pytest.raises((LabError, UsageError), match="does not let the lab in"):
        await elsewhere.postgres("postgresql://app@127.0.0.1:1/app?sslmode=bogus")


def test_only_hosts_whose_every_address_is_loopback_are_this_machine() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("127.1.2.3")
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("192.0.2.1")
    assert not is_loopback("no-such-host.invalid")
