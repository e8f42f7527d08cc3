"""What each toxic of Toxiproxy 2.12 does to bytes, as the real server and the stand-in must both do it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from chaos.network import Toxic
from tests.integration.waiting import until

if TYPE_CHECKING:
    from chaos.network import Link, Network
    from tests.integration.proxy.conftest import Dialler, Upstream


async def test_bytes_pass_both_ways(link: Link, dial: Dialler) -> None:
    client = await dial(link)
    data = bytes(range(256)) * 2_000
    assert await client.echo(data) < 5.0


async def test_ending_one_direction_ends_the_connection(link: Link, dial: Dialler) -> None:
    client = await dial(link)
    await client.echo(b"x")
    client.writer.write_eof()
    assert await client.read() == b""


async def test_a_dead_upstream_accepts_and_then_ends(network: Network, dial: Dialler) -> None:
    link = await network.create("dead", "127.0.0.1:1")
    try:
        client = await dial(link)
        assert await client.read() == b""
    finally:
        await network.delete("dead")


async def test_down_ends_open_connections_and_refuses_new_ones(
    network: Network, link: Link, dial: Dialler
) -> None:
    client = await dial(link)
    await client.echo(b"x")
    await network.cut(link.name)
    assert await client.read() == b""
    with pytest.raises(ConnectionRefusedError):
        await dial(link)


async def test_toxics_survive_down(network: Network, link: Link, dial: Dialler, put: Any) -> None:
    await put("latency", latency=80)
    await network.cut(link.name)
    await network.restore(link.name)
    assert await (await dial(link)).echo(b"x") >= 0.079


@pytest.mark.parametrize("stream", ["upstream", "downstream"])
async def test_latency_delays_open_connections_too(link: Link, dial: Dialler, put: Any, stream: str) -> None:
    client = await dial(link)
    assert await client.echo(b"x") < 0.08
    await put("latency", stream, latency=100)
    assert await client.echo(b"x") >= 0.099
    assert await (await dial(link)).echo(b"x") >= 0.099


async def test_latency_delays_chunks_side_by_side(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("latency", latency=300)
    started = asyncio.get_running_loop().time()
    for _ in range(5):
        client.writer.write(b"x")
        await asyncio.sleep(0.01)  # so that each is a chunk of its own
    await client.read_exactly(5)
    assert asyncio.get_running_loop().time() - started < 1.0


async def test_jitter_spreads_the_delays(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("latency", latency=50, jitter=40)
    delays = [await client.echo(b"x") for _ in range(12)]
    assert min(delays) >= 0.009
    assert max(delays) - min(delays) > 0.01


async def test_removing_latency_loses_nothing(network: Network, link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("latency", latency=5_000)
    client.writer.write(b"held")
    assert await client.silent_for(0.2)
    await network.remove(link.name, "latency")
    assert await client.read_exactly(4) == b"held"
    assert await client.echo(b"x") < 1.0


async def test_bandwidth_throttles(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("bandwidth", rate=100)
    assert 0.25 <= await client.echo(bytes(30_000)) < 3.0


async def test_bandwidth_of_zero_stalls_until_removed(
    network: Network, link: Link, dial: Dialler, put: Any
) -> None:
    client = await dial(link)
    await put("bandwidth", rate=0)
    client.writer.write(b"held")
    assert await client.silent_for(0.3)
    await network.remove(link.name, "bandwidth")
    assert await client.read_exactly(4) == b"held"


async def test_slow_close_delays_only_the_close(
    link: Link, dial: Dialler, put: Any, upstream: Upstream
) -> None:
    client = await dial(link)
    await put("slow_close", delay=300)
    assert await client.echo(b"x") < 0.25
    started = asyncio.get_running_loop().time()
    upstream.writers[-1].close()
    assert await client.read() == b""
    assert asyncio.get_running_loop().time() - started >= 0.29


async def test_timeout_drops_data_and_never_closes_at_zero(
    link: Link, dial: Dialler, put: Any, upstream: Upstream
) -> None:
    client = await dial(link)
    await put("timeout", timeout=0)
    client.writer.write(b"lost")
    assert await client.silent_for(0.4)
    assert upstream.received == b"lost"


async def test_timeout_upstream_keeps_the_request_from_the_server(
    link: Link, dial: Dialler, put: Any, upstream: Upstream
) -> None:
    client = await dial(link)
    await put("timeout", "upstream", timeout=0)
    client.writer.write(b"lost")
    assert await client.silent_for(0.4)
    assert upstream.received == b""


async def test_timeout_is_an_idle_timer(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("timeout", timeout=600)
    for _ in range(6):
        client.writer.write(b"x")
        assert await client.silent_for(0.2)
    assert await client.read(within_seconds=5.0) == b""


async def test_removing_timeout_closes_idle_connections_too(
    network: Network, link: Link, dial: Dialler, put: Any
) -> None:
    idle = await dial(link)
    await idle.echo(b"x")
    await put("timeout", timeout=0)
    await network.remove(link.name, "timeout")
    assert await idle.read() == b""
    assert await (await dial(link)).echo(b"x") < 1.0


async def test_reset_peer_resets_connections_opened_since(link: Link, dial: Dialler, put: Any) -> None:
    await put("reset_peer", timeout=0)
    client = await dial(link)
    client.writer.write(b"x")
    with pytest.raises(ConnectionResetError):
        await client.read()


async def test_reset_peer_ends_older_connections_and_leaves_idle_ones(
    link: Link, dial: Dialler, put: Any
) -> None:
    older, idle = await dial(link), await dial(link)
    await older.echo(b"x")
    await idle.echo(b"x")
    await put("reset_peer", timeout=0)
    older.writer.write(b"x")
    assert await older.read() == b""
    assert await idle.silent_for(0.3)


async def test_slicer_cuts_chunks_apart(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("slicer", average_size=10, size_variation=0, delay=20_000)
    started = asyncio.get_running_loop().time()
    client.writer.write(bytes(100))
    assert 1 <= len(await client.read()) < 100
    rest = b""
    while len(rest) < 90 and (more := await client.read(100)):
        rest += more
        if asyncio.get_running_loop().time() - started > 5.0:
            break
    assert asyncio.get_running_loop().time() - started >= 0.1


async def test_limit_data_closes_after_so_many_bytes(link: Link, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("limit_data", bytes=6)
    await client.echo(b"abcd")
    client.writer.write(b"efgh")
    assert await client.read_exactly(2) == b"ef"
    assert await client.read() == b""
    assert await (await dial(link)).echo(b"again") < 1.0


async def test_limit_data_of_zero_loses_the_reply_after_the_work_was_done(
    link: Link, dial: Dialler, put: Any, upstream: Upstream
) -> None:
    client = await dial(link)
    await put("limit_data", bytes=0)
    client.writer.write(b"work")
    assert await client.read() == b""
    assert upstream.received == b"work"


async def test_the_server_learns_that_the_client_left(link: Link, dial: Dialler, upstream: Upstream) -> None:
    client = await dial(link)
    await client.echo(b"x")
    client.writer.close()
    await until(lambda: upstream.ended["connections"], "the end of the server's side", within_seconds=5)


async def test_toxics_follow_one_another(link: Link, network: Network, dial: Dialler, put: Any) -> None:
    client = await dial(link)
    await put("slicer", average_size=50, size_variation=0, delay=0)
    await put("latency", latency=100)
    assert 0.099 <= await client.echo(bytes(500)) < 3.0
    await network.remove(link.name, "slicer")
    assert 0.099 <= await client.echo(bytes(500)) < 3.0
    await network.remove(link.name, "latency")
    assert await client.echo(bytes(500)) < 0.099


async def test_no_toxicity_leaves_the_stream_alone(network: Network, link: Link, dial: Dialler) -> None:
    client = await dial(link)
    await network.add(link.name, Toxic(name="t", type="latency", attributes={"latency": 2_000}, toxicity=0.0))
    assert await client.echo(b"x") < 1.0
