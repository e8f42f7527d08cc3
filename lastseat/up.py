"""The lab and the service, up until Ctrl-C, for a person with curl or a program that wants the addresses."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec

from lastseat import elsewhere
from lastseat import folder as folders
from lastseat.console import screen
from lastseat.errors import LabError
from lastseat.folder import UP
from lastseat.interruptible import run
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.wishes import known_mutant
from scenarios.scenario import Sale
from scenarios.targets.builtin import TENANT, Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.nodes import Deployment
    from lastseat.request import Servers

NODES = 2
BUYERS = 2
DATABASE = "lastseat_up"
SALE = Sale(resources=1, capacity=1)
LOOK_SECONDS = 0.5


class Addresses(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a program needs to use the lab; printed by `lastseat up --json`."""

    nodes: dict[str, str]
    database_url: str
    redis_url: str
    tenant: str
    tokens: dict[str, str]
    resource: str
    logs: str


def stay_up(runs: Path, *, servers: Servers, mutant: str | None, as_json: bool) -> None:
    """Start lab and service, print where they are, and stay until a signal; raises LabError when a part dies."""
    if mutant is not None:
        known_mutant(mutant)
    try:
        run(_stay(runs, servers=servers, mutant=mutant, as_json=as_json))
    except KeyboardInterrupt:
        if not as_json:
            screen().print("\nEverything has been ended.", highlight=False)


async def _stay(runs: Path, *, servers: Servers, mutant: str | None, as_json: bool) -> None:
    await elsewhere.refuse(servers.database_url, servers.redis_url, None)
    folder = folders.create(runs, UP)
    target = Builtin()
    async with Lab.start(
        folder=folder,
        database_url=servers.database_url,
        redis_url=servers.redis_url,
        with_toxiproxy=False,
    ) as lab:
        dsn = await lab.create_database(DATABASE)
        deployer = Deployer(lab=lab, environment=target.environment(SALE), mutant=mutant)
        await deployer.migrate(dsn)
        async with deployer.deploy(dsn, NODES) as service:
            try:
                stage = await target.prepare(service.nodes, SALE, run=lab.environment_marker, actors=BUYERS)
            except TargetError as odd:
                raise LabError(f"the service is up but could not be prepared: {odd}") from odd
            tokens = {actor.owner: str(actor.values["token"]) for actor in stage.actors}
            addresses = Addresses(
                nodes={node.label: f"http://{node.host}:{node.port}" for node in service.nodes},
                database_url=dsn,
                redis_url=lab.redis_url,
                tenant=TENANT,
                tokens={**tokens, "admin": target.admin_token()},
                resource=stage.resources[0].id,
                logs=str(folder / "logs"),
            )
            tell = _print_json if as_json else _print
            tell(addresses)
            await _until_one_dies(service)


async def _until_one_dies(service: Deployment) -> None:
    """Wait, for as long as every node lives; ended by cancellation."""
    while True:
        for child in service.children.values():
            if child.exited:
                raise child.error(f"{child.role} ended by itself, with exit code {child.exit_code}")
        await asyncio.sleep(LOOK_SECONDS)


def _print_json(addresses: Addresses) -> None:
    sys.stdout.write(msgspec.json.encode(addresses).decode() + "\n")
    sys.stdout.flush()


def _print(addresses: Addresses) -> None:
    first, *_ = addresses.nodes.values()
    second = list(addresses.nodes.values())[-1]
    buyer, rival, *_ = addresses.tokens.values()
    lines = [
        "The service is up:",
        *(f"  node {label}    {url}" for label, url in addresses.nodes.items()),
        f"  PostgreSQL {addresses.database_url}",
        f"  Redis      {addresses.redis_url}",
        f"  logs       {addresses.logs}",
        "",
        "One resource with one seat is on sale. Look at it, take the seat, and let a rival ask the other node for it:",
        "",
        f"  curl -s {first}/api/resources/{addresses.resource} -H 'Authorization: Bearer {buyer}'",
        "",
        f"  curl -s -X POST {first}/api/resources/{addresses.resource}/holds -H 'Authorization: Bearer {buyer}' \\",
        "    -H 'Idempotency-Key: my-first-hold' -H 'Content-Type: application/json' -d '{}'",
        "",
        f"  curl -s -X POST {second}/api/resources/{addresses.resource}/holds -H 'Authorization: Bearer {rival}' \\",
        "    -H 'Idempotency-Key: a-rival-hold' -H 'Content-Type: application/json' -d '{}'",
        "",
        "Send the second call again: the same answer, with Idempotency-Replayed: true (curl -i shows it).",
        "Ctrl-C ends everything.",
    ]
    screen().print("\n".join(lines), markup=False, soft_wrap=True, highlight=False)
