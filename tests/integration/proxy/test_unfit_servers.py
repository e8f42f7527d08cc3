"""A proxy server that is none, or is none any more: the network says so, and waits for nobody for ever."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from chaos import network as room
from chaos.network import Network, NetworkError, Toxic

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

ASKING: dict[str, Callable[[Network], Awaitable[object]]] = {
    "version": lambda network: network.version(),
    "create": lambda network: network.create("redis-a", "127.0.0.1:1"),
    "delete": lambda network: network.delete("redis-a"),
    "links": lambda network: network.links(),
    "cut": lambda network: network.cut("redis-a"),
    "restore": lambda network: network.restore("redis-a"),
    "add": lambda network: network.add("redis-a", Toxic(name="t", type="latency")),
    "remove": lambda network: network.remove("redis-a", "t"),
    "clear": lambda network: network.clear("redis-a", "t"),
    "reset": lambda network: network.reset(),
}


@contextlib.asynccontextmanager
async def listening(answer: bytes) -> AsyncIterator[Network]:
    """A server that gives everybody this one answer, or none if it is empty."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            if not answer:
                await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Network("127.0.0.1", server.sockets[0].getsockname()[1])


def test_everything_that_can_be_asked_is_here() -> None:
    asked = {name for name in vars(Network) if not name.startswith("_")}
    assert set(ASKING) == asked - {"listening"}


@pytest.mark.parametrize("ask", ASKING)
async def test_a_server_that_accepts_and_never_answers_is_given_up(
    ask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "_ANSWER_SECONDS", 0.2)
    async with asyncio.timeout(10), listening(b"") as network:
        with pytest.raises(NetworkError, match=r"failed: .*timed out"):
            await ASKING[ask](network)


@pytest.mark.parametrize("ask", ASKING)
async def test_a_server_that_fails_is_named_with_what_it_said(ask: str) -> None:
    """The library lets a 500 pass; where no answer is read, as of a reset, nobody would notice."""
    body = b'{"error":"it hurts","status":500}'
    answer = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(
        body
    )
    async with asyncio.timeout(10), listening(answer + body) as network:
        with pytest.raises(NetworkError, match=r"answered 500 instead of 20\d: .*it hurts"):
            await ASKING[ask](network)
