"""Tells the checker what a run was: scenario.json, with what took part in it and which versions."""

from __future__ import annotations

import asyncio
import os
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

import asyncpg
import redis.asyncio as redis

from checker.brief import Brief, write_brief

if TYPE_CHECKING:
    from lastseat.course import Course
    from lastseat.lab import Lab
    from lastseat.run import Played

ASK_SECONDS = 5.0


async def brief(course: Course, played: Played, *, command: str, judges_thresholds: bool) -> None:
    """Write scenario.json; it holds no address, token or password."""
    scenario = course.scenario
    write_brief(
        course.folder,
        Brief(
            run=course.name,
            scenario=scenario.name,
            story=scenario.story,
            profile=scenario.profile,
            seed=course.seed,
            target=course.target.name,
            command=command,
            invariants=scenario.invariants,
            assumptions=scenario.assumptions,
            thresholds=scenario.thresholds,
            judges_thresholds=judges_thresholds,
            tables=dict(course.target.tables_under(course.environment)),
            refusals=dict(course.target.refusals),
            shards=len(played.load.shards),
            mutant=course.mutant,
            t0_ns=played.load.t0_ns,
            links={name: f"{course.lab.toxiproxy.kind}; {toll}" for name, toll in played.links.items()},
            parts=await _parts(course.lab),
        ),
    )


async def _parts(lab: Lab) -> dict[str, str]:
    """Say what took part and in which version, in words for the report."""
    postgres, redis = await asyncio.gather(_postgres_version(lab), _redis_version(lab))
    return {
        "PostgreSQL": f"{postgres}, {_origin(embedded=lab.postgres.embedded, option='--database-url')}",
        "Redis protocol": f"{redis}, {_origin(embedded=lab.valkey.embedded, option='--redis-url')}",
        "network faults": lab.proxy.kind if lab.proxy is not None else "none: no link was proxied",
        "load": f"Locust {version('locust')}",
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }


def _origin(*, embedded: bool, option: str) -> str:
    return "started by the lab" if embedded else f"given by {option}"


async def _postgres_version(lab: Lab) -> str:
    connection = await asyncpg.connect(lab.postgres.admin_dsn, timeout=ASK_SECONDS)
    try:
        return str(await connection.fetchval("SHOW server_version", timeout=ASK_SECONDS))
    finally:
        await connection.close(timeout=ASK_SECONDS)


async def _redis_version(lab: Lab) -> str:
    async with asyncio.timeout(ASK_SECONDS), redis.from_url(lab.redis_url) as client:
        server = await client.info("server")
    named = "valkey_version" if "valkey_version" in server else "redis_version"
    return f"{named.partition('_')[0].capitalize()} {server[named]}"
