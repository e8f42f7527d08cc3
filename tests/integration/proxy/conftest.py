"""One conformance suite for both: Toxiproxy's own server and the stand-in."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import secrets
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pytest

from chaos.network import Network, Toxic
from lastseat.account import server_account
from lastseat.proxy_source import Source, obtain
from lastseat.supervision import Supervision
from lastseat.toxiproxy import start_toxiproxy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from chaos.network import Link

DEADLINE_SECONDS = 10.0


@pytest.fixture(scope="session", params=["toxiproxy", "stand-in"])
async def network(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Network]:
    """A proxy server of each kind; where the real one cannot be had its half of the suite fails."""
    folder = tmp_path_factory.mktemp("proxy")
    marker = secrets.token_hex(8)
    supervision = await Supervision.begin(folder=folder / "lab", marker=marker, log=folder / "supervisor.log")
    try:
        source = Source(None, "stand-in")
        if request.param == "toxiproxy":
            source = await obtain(supervision, folder / "obtain.log")
            if source.program is None:
                pytest.fail(f"the stand-in cannot be compared with the real server: {source.notice}")
        started = await start_toxiproxy(
            source,
            supervision=supervision,
            account=server_account(),
            log=folder / "proxy.log",
            taken=set(),
        )
        yield Network(started.host, started.port)
    finally:
        await supervision.end()


@dataclass
class Upstream:
    """A server that echoes; it remembers what it received and can close its connections."""

    address: str = ""
    received: bytearray = field(default_factory=bytearray)
    ended: Counter[str] = field(default_factory=Counter)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.received += data
                writer.write(data)
                await writer.drain()
        self.ended["connections"] += 1
        writer.close()


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    echo = Upstream()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    echo.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield echo
    server.close()
    for writer in echo.writers:
        writer.close()


@pytest.fixture
async def link(network: Network, upstream: Upstream) -> AsyncIterator[Link]:
    """A link to the echo server, taken away afterwards."""
    name = f"echo-{secrets.token_hex(4)}"
    yield await network.create(name, upstream.address)
    await network.delete(name)


@pytest.fixture
def put(network: Network, link: Link) -> Callable[..., Awaitable[None]]:
    """Put a toxic named after its type on the link."""

    async def add(
        kind: str, stream: Literal["upstream", "downstream"] = "downstream", **attributes: int
    ) -> None:
        await network.add(link.name, Toxic(name=kind, type=kind, stream=stream, attributes=attributes))

    return add


class Client:
    """A connection through a link, every read of which has a deadline."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def read(self, most: int = 65536, *, within_seconds: float = DEADLINE_SECONDS) -> bytes:
        async with asyncio.timeout(within_seconds):
            return await self.reader.read(most)

    async def read_exactly(self, size: int) -> bytes:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await self.reader.readexactly(size)

    async def echo(self, data: bytes) -> float:
        """Send and receive; return the seconds it took."""
        started = asyncio.get_running_loop().time()
        self.writer.write(data)
        assert await self.read_exactly(len(data)) == data
        return asyncio.get_running_loop().time() - started

    async def silent_for(self, seconds: float) -> bool:
        """Whether neither a byte nor the end comes in that time."""
        try:
            await self.read(within_seconds=seconds)
        except TimeoutError:
            return True
        return False


class Dialler:
    """Opens clients and closes them after the test."""

    def __init__(self) -> None:
        self.clients: list[Client] = []

    async def __call__(self, link: Link) -> Client:
        client = Client(*await asyncio.open_connection(link.host, link.port))
        self.clients.append(client)
        return client


@pytest.fixture
async def dial() -> AsyncIterator[Dialler]:
    dialler = Dialler()
    yield dialler
    for client in dialler.clients:
        client.writer.close()
        with contextlib.suppress(OSError):
            await client.writer.wait_closed()


class Api:
    """The bare HTTP API, without the library."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return await asyncio.to_thread(self._send, method, path, body, headers)

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address, timeout=DEADLINE_SECONDS)
        with contextlib.closing(connection):
            content = body if isinstance(body, str) else None if body is None else json.dumps(body)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, content, named)
            answer = connection.getresponse()
            text = answer.read().decode()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.strip()


@pytest.fixture
def api(network: Network) -> Api:
    return Api(network.address)
