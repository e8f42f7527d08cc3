"""The service's workers in the lab, and the providers that they talk to: started once the trail is open, ended before the state is read."""

from __future__ import annotations

import asyncio
import http.client
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from chaos.parts import PartError
from lastseat.nodes import UP_SECONDS, brought_up, end
from lastseat.ports import LOOPBACK, on_a_free_port
from lastseat.providers import providing
from lastseat.service_part import ServicePart
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from lastseat.children import Child
    from lastseat.errors import LabError
    from lastseat.nodes import Deployer, Deployment

PROBE_SECONDS = 2.0
DATABASE_LINK: Final = "pg-workers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """The provider that a worker calls: the setting that takes its address, and the path after the caller's role."""

    provider: str
    setting: str
    path: str


KINDS: Final[Mapping[str, Party | None]] = MappingProxyType(
    {
        "expiry": None,
        "notifier": Party(
            provider="notification", setting="RESERVATION_NOTIFICATION_URL", path="notifications"
        ),
    }
)


def roles(workers: Mapping[str, int]) -> tuple[str, ...]:
    """Name every worker: worker-expiry-1, worker-expiry-2 and so on."""
    return tuple(f"worker-{kind}-{place}" for kind, many in workers.items() for place in range(1, many + 1))


def provider_names(workers: Mapping[str, int]) -> tuple[str, ...]:
    """Name the providers that these workers call."""
    return tuple(party.provider for kind, party in KINDS.items() if party and workers.get(kind))


def worker_links(workers: Mapping[str, int]) -> tuple[str, ...]:
    """Name the links of these workers that can be proxied."""
    return (DATABASE_LINK, *provider_names(workers)) if any(workers.values()) else ()


@asynccontextmanager
async def staffed(
    deployer: Deployer, made: Deployment, workers: Mapping[str, int], folder: Path
) -> AsyncIterator[None]:
    """Run the workers and their providers beside the nodes while the block runs; a provider's ledger goes into `folder`."""

    async def kill(caller: str) -> str:
        if caller not in made.parts:
            raise PartError(f"no process of the lab is called {caller!r}")
        return await made.parts[caller].kill()

    async with AsyncExitStack() as leaving:
        addresses: dict[str, str] = {}
        for name in provider_names(workers):
            desk = await leaving.enter_async_context(providing(deployer.lab, name, folder, kill))
            made.providers[name] = desk
            addresses[name] = await deployer.through(made, name, f"http://{LOOPBACK}:{desk.port}")
        leaving.push_async_callback(dismiss, made)
        database = await deployer.through(made, DATABASE_LINK, made.dsn)
        crew = _Crew(deployer=deployer, made=made, database=database, addresses=addresses)
        try:
            async with asyncio.TaskGroup() as group:
                for role in roles(workers):
                    group.create_task(crew.start(role))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        yield


async def dismiss(made: Deployment) -> None:
    """End the workers, so that nothing changes any more."""
    ending = (child for role, child in made.children.items() if role.startswith("worker-"))
    await asyncio.gather(*(end(child) for child in ending))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crew:
    """What the workers of one deployment share: the database and the providers as they see them."""

    deployer: Deployer
    made: Deployment
    database: str
    addresses: Mapping[str, str]

    async def start(self, role: str) -> None:
        """Start one worker and wait until its metrics answer."""
        kind = role.split("-")[1]
        environment = {
            **self.deployer.environment,
            "RESERVATION_DATABASE_URL": self.database,
            "RESERVATION_REDIS_URL": self.deployer.lab.redis_url,
        }
        if (party := KINDS[kind]) is not None:
            environment[party.setting] = f"{self.addresses[party.provider]}/{role}/{party.path}"

        async def start(port: int) -> tuple[Child, int]:
            argv = self.deployer.argv(role, "service.workers", kind, "--metrics-port", str(port))
            child = await self.deployer.lab.spawn(role, argv, env=environment)
            await brought_up(child, _ready(child, port))
            return child, port

        child, port = await on_a_free_port(start, self.deployer.lab.ports)
        self.made.children[role] = child
        self.made.parts[role] = ServicePart(
            name=role, children=self.made.children, port=port, ready=lambda again: _ready(again, port)
        )


async def _ready(child: Child, port: int) -> None:
    async def answers() -> bool | None:
        if child.exited:
            raise child.error(f"{child.role} ended while starting, with exit code {child.exit_code}")
        return await asyncio.to_thread(_tells_metrics, port)

    def failing(problem: str) -> LabError:
        return child.error(f"{child.role} was not ready within {UP_SECONDS:g} s: {problem}")

    await until(answers, within_seconds=UP_SECONDS, failing=failing)


def _tells_metrics(port: int) -> bool | None:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/metrics")
        return True if connection.getresponse().status == http.client.OK else None
    except http.client.HTTPException as odd:
        raise OSError(f"no HTTP answer: {odd!r}") from odd
    finally:
        connection.close()
