"""One connection carries all that a node asks Redis, and whoever waits on it always hears something."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
import redis.asyncio as redis
from redis.exceptions import RedisError, ResponseError

from service.reservation.admission.redis_wire import Script, Wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ECHO = Script("return tonumber(ARGV[1])", keys=1)


@pytest.fixture
async def wire(redis_url: str) -> AsyncIterator[Wire]:
    made = Wire(redis_url, timeout_seconds=2)
    yield made
    await made.close()


@pytest.fixture
async def valkey(redis_url: str) -> AsyncIterator[Any]:
    async with redis.from_url(redis_url) as client:
        yield client


async def test_everyone_gets_their_own_answer_over_one_connection(wire: Wire, valkey: Any) -> None:
    await valkey.script_flush()
    before = {client["id"] for client in await valkey.client_list()}
    said = await asyncio.gather(*(wire.run(ECHO, b"key", b"%d" % n) for n in range(200)))
    assert said == list(range(200))
    assert len({client["id"] for client in await valkey.client_list()} - before) == 1


async def test_who_gives_up_takes_nobody_elses_answer(wire: Wire) -> None:
    await wire.ping()
    calls = [asyncio.ensure_future(wire.run(ECHO, b"key", b"%d" % n)) for n in range(10)]
    await asyncio.sleep(0)
    for call in calls[::3]:
        call.cancel()
    said = await asyncio.gather(*calls, return_exceptions=True)
    assert [n for n in said if isinstance(n, int)] == [1, 2, 4, 5, 7, 8]


async def test_who_gives_up_while_it_connects_leaves_the_attempt_to_the_others(wire: Wire) -> None:
    first, second = (asyncio.ensure_future(wire.run(ECHO, b"key", number)) for number in (b"1", b"2"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 2


async def test_a_connection_that_was_ended_is_made_anew(wire: Wire, valkey: Any, until: Any) -> None:
    assert await wire.run(ECHO, b"key", b"1") == 1
    await valkey.client_kill_filter(_type="normal", skipme=True)
    await until(lambda: wire._session is None or wire._session.lost, "the end of the connection")
    assert await wire.run(ECHO, b"key", b"2") == 2


async def test_an_error_of_the_script_or_the_login_is_an_error(wire: Wire, redis_url: str) -> None:
    with pytest.raises(ResponseError, match="wrong"):
        await wire.run(Script("return redis.error_reply('wrong')", keys=1), b"key")
    with pytest.raises(ResponseError, match="no integer"):
        await wire.run(Script("return redis.status_reply('fine')", keys=1), b"key")
    assert await wire.run(ECHO, b"key", b"3") == 3

    password = urlsplit(redis_url).password
    assert password is not None
    stranger = Wire(redis_url.replace(password, "guessed"), timeout_seconds=2)
    with pytest.raises(ResponseError, match="WRONGPASS"):
        await stranger.ping()
    await stranger.close()


async def test_a_silent_server_is_given_up_for_all_at_once(silent_port: int) -> None:
    wire = Wire(f"redis://127.0.0.1:{silent_port}", timeout_seconds=0.1)
    began = time.monotonic()
    said = await asyncio.gather(*(wire.run(ECHO, b"key") for _ in range(20)), return_exceptions=True)
    assert {type(what) for what in said} == {TimeoutError}
    assert 0.1 <= time.monotonic() - began < 2
    await wire.close()


@pytest.fixture
async def rude() -> AsyncIterator[tuple[int, list[int]]]:
    """A port that hangs up on everyone, and how often it was called."""
    calls: list[int] = []

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(1)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], calls
    server.close()
    await server.wait_closed()


async def test_a_general_client_calls_again_by_itself_and_the_wire_does_not(
    rude: tuple[int, list[int]],
) -> None:
    """What it costs to be refused is decided here, not by a library's defaults."""
    port, calls = rude
    async with redis.Redis(host="127.0.0.1", port=port) as naive:
        with pytest.raises(redis.ConnectionError):
            await naive.ping()
    assert len(calls) > 1

    calls.clear()
    wire = Wire(f"redis://127.0.0.1:{port}", timeout_seconds=2)
    with pytest.raises((OSError, RedisError)):
        await wire.run(ECHO, b"key", b"1")
    await wire.close()
    assert len(calls) == 1
