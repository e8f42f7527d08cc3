"""The service's own processes in the lab, and the proxied links between them and what they need."""

from __future__ import annotations

import asyncio
import http.client
import sys
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from chaos.launch_faults import launch_options
from chaos.network import Link, Network, NetworkError
from lastseat import borrowed
from lastseat.errors import LabError
from lastseat.ports import LOOPBACK, on_a_free_port
from lastseat.service_part import ServicePart
from lastseat.waiting import until
from scenarios.targets.target import Node

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence

    from chaos.schedule import Planned
    from lastseat.children import Child
    from lastseat.lab import Lab
    from lastseat.providers import ProviderDesk

UP_SECONDS = 20.0
MIGRATE_SECONDS = 30.0
PROBE_SECONDS = 2.0
END_SECONDS = 8.0


def labels(count: int) -> tuple[str, ...]:
    """Name the nodes: a, b, c … and n26, n27 … beyond the alphabet."""
    return (*ascii_lowercase[:count], *(f"n{place}" for place in range(len(ascii_lowercase), count)))


def link_names(nodes: int) -> tuple[str, ...]:
    """Name every link that can be proxied in a lab with so many nodes."""
    return tuple(f"{kind}-{label}" for label in labels(nodes) for kind in ("edge", "pg", "redis"))


@dataclass(slots=True, kw_only=True)
class Deployment:
    """The service as it runs in a lab: its database, where its nodes are entered, and what of it may be broken.

    `laid` are the names in the proxy of all links that were ever asked for.
    """

    dsn: str
    nodes: list[Node] = field(default_factory=list)
    children: dict[str, Child] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    laid: list[str] = field(default_factory=list)
    network: Network | None = None
    parts: dict[str, ServicePart] = field(default_factory=dict)
    providers: dict[str, ProviderDesk] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Deployer:
    """Starts the service's nodes on a database; `proxied` are the links to lay through the proxy, and no others."""

    lab: Lab
    environment: Mapping[str, str]
    mutant: str | None = None
    proxied: Collection[str] = ()
    faults: Sequence[Planned] = ()

    def argv(self, role: str, module: str, *arguments: str) -> tuple[str, ...]:
        """Return the command that runs a module of the service as the mutant and the schedule want it."""
        planted = ("--mutant", self.mutant) if self.mutant else ()
        tampered = (*planted, *launch_options(self.faults, role))
        return (sys.executable, "-m", "chaos.launch", *tampered, "--", module, *arguments)

    async def migrate(self, dsn: str) -> None:
        """Bring the database to the service's schema."""
        child = await self.lab.spawn(
            "migrate", (sys.executable, "-m", "service.migrate"), env={"RESERVATION_DATABASE_URL": dsn}
        )
        if await child.wait(MIGRATE_SECONDS) != 0:
            raise child.error("the service's schema could not be made")

    def planned(self, dsn: str) -> Deployment:
        """Return the service as it will run on a database: nothing of it is there yet but the way to lay links."""
        made = Deployment(dsn=dsn)
        if self.proxied:
            proxy = self.lab.toxiproxy
            made.network = Network(proxy.host, proxy.port)
            if proxy.child is None:
                borrowed.note(self.lab.supervision.folder, proxy.host, proxy.port)
        return made

    @asynccontextmanager
    async def deploy(self, dsn: str, count: int) -> AsyncIterator[Deployment]:
        """Run `count` nodes on a database while the block runs; then end them and their links."""
        made = self.planned(dsn)
        async with ended(made):
            await self.bring_up(made, count)
            yield made

    async def bring_up(self, made: Deployment, count: int) -> None:
        """Start `count` nodes and wait until each has said that it is ready."""
        named = labels(count)
        for label in named:
            made.nodes.append(Node(label=label, host=LOOPBACK, port=0))
        try:
            async with asyncio.TaskGroup() as group:
                for place, label in enumerate(named):
                    group.create_task(self._node(made, place, label))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _node(self, made: Deployment, place: int, label: str) -> None:
        database = await self.through(made, f"pg-{label}", made.dsn)
        redis = await self.through(made, f"redis-{label}", self.lab.redis_url)
        own = {**self.environment, "RESERVATION_DATABASE_URL": database, "RESERVATION_REDIS_URL": redis}
        child, port = await self._start(label, own)
        role = child.role
        made.children[role] = child
        made.parts[role] = ServicePart(
            name=role, children=made.children, port=port, ready=lambda again: _ready(again, port)
        )
        edge = await self.through(made, f"edge-{label}", f"http://{LOOPBACK}:{port}")
        made.nodes[place] = Node(label=label, host=LOOPBACK, port=urlsplit(edge).port or port)

    async def through(self, made: Deployment, name: str, url: str) -> str:
        """Return the URL with a proxied link's address in it, where this run proxies that link."""
        if name not in self.proxied or made.network is None:
            return url
        there, laid = urlsplit(url), borrowed.named(name, self.lab.environment_marker)
        made.laid.append(laid)  # first: a proxy may do what nobody waited for
        link = await made.network.create(laid, f"{there.hostname}:{there.port}")
        made.links[name] = link
        credentials, at, _ = there.netloc.rpartition("@")
        return urlunsplit(there._replace(netloc=f"{credentials}{at}{link.host}:{link.port}"))

    async def _start(self, label: str, environment: Mapping[str, str]) -> tuple[Child, int]:
        """Start one node on a free port and wait until it is ready."""
        role = f"node-{label}"

        async def start(port: int) -> tuple[Child, int]:
            argv = self.argv(role, "service.node", "--host", LOOPBACK, "--port", str(port))
            child = await self.lab.spawn(role, argv, env=environment)
            await brought_up(child, _ready(child, port))
            return child, port

        return await on_a_free_port(start, self.lab.ports)


@asynccontextmanager
async def ended(made: Deployment) -> AsyncIterator[None]:
    """End every process of a service after the block, and take its links away, however far it had come."""
    try:
        yield
    finally:
        await asyncio.gather(*(end(child) for child in made.children.values()))
        await _take_down(made)


async def _take_down(made: Deployment) -> None:
    """Take the run's links away; a proxy that keeps one decides nothing: what was played has been played.

    It goes with the lab, or, in a proxy server of others, is asked for again by whoever ends the lab.
    """
    if made.network is None:
        return
    for name in made.laid:
        with suppress(NetworkError):
            await made.network.delete(name)


async def brought_up(child: Child, ready: Awaitable[object]) -> None:
    """Wait until it is ready; where the wait is broken off, end it: nobody else knows of it yet."""
    try:
        await ready
    except asyncio.CancelledError:
        with suppress(LabError):
            await child.kill()
        raise


async def end_nodes(made: Deployment) -> None:
    """End every node beside the others."""
    ending = (child for role, child in made.children.items() if role.startswith("node-"))
    await asyncio.gather(*(end(child) for child in ending))


async def end(child: Child) -> None:
    """Ask a node or worker to finish what runs and end; by force where it does not."""
    try:
        await child.terminate(END_SECONDS)
    except LabError:
        await child.kill()


async def _ready(child: Child, port: int) -> None:
    async def answers() -> bool | None:
        if child.exited:
            raise child.error(
                f"the service's {child.role} ended while starting, with exit code {child.exit_code}"
            )
        return await asyncio.to_thread(_says_ready, port)

    await until(
        answers,
        within_seconds=UP_SECONDS,
        failing=lambda problem: child.error(f"{child.role} was not ready within {UP_SECONDS:g} s: {problem}"),
    )


def _says_ready(port: int) -> bool | None:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/health/ready")
        answer = connection.getresponse()
        answer.read()
    except http.client.HTTPException as odd:
        raise OSError(f"no HTTP answer: {odd!r}") from odd
    else:
        return True if answer.status == http.client.OK else None
    finally:
        connection.close()
