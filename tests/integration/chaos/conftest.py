"""Links through the lab's proxy to its real servers, to a provider, and to a small HTTP server in place of a node."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from chaos.faults import Reach
from chaos.network import Network
from chaos.providers.control import Alone
from chaos.providers.http import Listener
from chaos.providers.ledger import Ledger
from chaos.providers.simulator import Simulator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from lastseat.lab import Lab


async def live(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("live\n")


@pytest.fixture(scope="session")
async def node() -> AsyncIterator[str]:
    """An address that answers GET /health/live as an API node does."""
    application = Starlette(routes=[Route("/health/live", live)])
    config = uvicorn.Config(
        application, port=0, log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve())
    async with asyncio.timeout(10):
        while not server.started:  # noqa: ASYNC110 - uvicorn tells it by this flag only
            await asyncio.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()[:2]
    yield f"{host}:{port}"
    server.should_exit = True
    await serving


@pytest.fixture(scope="session")
async def provider(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The address of a provider, which answers one request a connection and closes."""
    with Ledger(tmp_path_factory.mktemp("provider") / "notification.jsonl") as kept:
        simulator = Simulator(name="notification", ledger=kept, lab=Alone())
        listener = Listener("127.0.0.1", 0, simulator.treat)
        await listener.up()
        yield f"127.0.0.1:{listener.port}"
        await listener.down()


@pytest.fixture
async def reach(lab: Lab, node: str) -> AsyncIterator[Reach]:
    """Links pg-a, pg-b, redis-a and edge-a, taken away afterwards."""
    network = Network(lab.toxiproxy.host, lab.toxiproxy.port)
    redis = urlsplit(lab.redis_url)
    postgres = f"{lab.postgres.host}:{lab.postgres.port}"
    upstreams = {
        "pg-a": postgres,
        "pg-b": postgres,
        "redis-a": f"{redis.hostname}:{redis.port}",
        "edge-a": node,
    }
    links = {name: await network.create(name, upstream) for name, upstream in upstreams.items()}
    yield Reach(network=network, links=links)
    for name in links:
        await network.delete(name)


@pytest.fixture
async def crew(reach: Reach, lab: Lab, provider: str) -> AsyncIterator[Reach]:
    """Those links, and the workers' own: pg-workers and notification."""
    assert reach.network
    upstreams = {"pg-workers": f"{lab.postgres.host}:{lab.postgres.port}", "notification": provider}
    links = {name: await reach.network.create(name, upstream) for name, upstream in upstreams.items()}
    yield Reach(network=reach.network, links={**reach.links, **links})
    for name in links:
        await reach.network.delete(name)
