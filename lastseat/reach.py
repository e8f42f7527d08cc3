"""What faults may touch of a lab with the service in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import asyncpg

from chaos.fault import LEADER, Reach
from chaos.network import Link
from chaos.parts import PartError
from lastseat.nodes import labels, link_names
from lastseat.server_parts import PostgresPart, RedisPart
from lastseat.workers import provider_names, roles, worker_links

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from chaos.fault import Place
    from chaos.parts import Part
    from lastseat.lab import Lab
    from lastseat.nodes import Deployment
    from scenarios.scenario import Scenario

ASK_SECONDS = 2.0
SERVERS: Final = ("postgres", "redis")
_HOLDER: Final = (
    "SELECT holder FROM leader_leases WHERE expires_at > clock_timestamp() ORDER BY term DESC LIMIT 1"
)


def places(scenario: Scenario) -> dict[Place, tuple[str, ...]]:
    """Name what a scenario's lab has for faults to break, before anything of it is started."""
    parts = tuple(f"node-{label}" for label in labels(scenario.nodes))
    lead = (LEADER,) if scenario.workers.get("expiry") else ()
    return {
        "link": (*link_names(scenario.nodes), *worker_links(scenario.workers)),
        "part": (*parts, *roles(scenario.workers), *SERVERS, *lead),
        "provider": provider_names(scenario.workers),
    }


def sketched(scenario: Scenario) -> Reach:
    """Return what faults may touch of a scenario's lab by name alone: enough to tell which of them clash."""
    names = places(scenario)
    return Reach(
        links={name: Link(name=name, host="", port=0, upstream="") for name in names["link"]},
        parts={name: cast("Part", _Named(name)) for name in names["part"] if name != LEADER},
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """A part that is not there yet."""

    name: str


def reach_of(lab: Lab, made: Deployment, conditions: Mapping[str, Callable[[], Awaitable[float]]]) -> Reach:
    """Gather links, parts and providers; servers that were given by URL are left out."""
    parts: dict[str, Part] = {**made.parts}
    if lab.postgres.embedded:
        parts["postgres"] = PostgresPart(lab.postgres)
    if lab.valkey.embedded:
        parts["redis"] = RedisPart(lab.valkey, lab.supervision.folder)

    async def leader() -> str:
        return await _leader(made)

    return Reach(
        network=made.network,
        links=made.links,
        parts=parts,
        providers=made.providers,
        leader=leader,
        conditions=conditions,
    )


async def _leader(made: Deployment) -> str:
    """Ask the database who holds the lease, and find that process by the number in its name; empty when nobody does."""
    try:
        connection = await asyncpg.connect(
            made.dsn, timeout=ASK_SECONDS, server_settings={"application_name": "lastseat leader"}
        )
        try:
            holder = await connection.fetchval(_HOLDER, timeout=ASK_SECONDS)
        finally:
            await connection.close(timeout=ASK_SECONDS)
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        raise PartError(f"nobody can be asked who holds the lease: {error!r}") from error
    # The host's name may hold hyphens; the number and the random end do not.
    number = str(holder or "").rpartition("-")[0].rpartition("-")[2]
    return next((role for role, child in made.children.items() if str(child.pid) == number), "")
