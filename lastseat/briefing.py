"""Tells the checker what a run was: scenario.json, with what took part in it and which versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

from checker.brief import Brief, write_brief

if TYPE_CHECKING:
    from lastseat.lab import Lab
    from lastseat.run import Course, Played


def brief(course: Course, played: Played, *, command: str) -> None:
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
            tables=dict(course.target.tables),
            refusals=dict(course.target.refusals),
            shards=len(played.load.shards),
            mutant=course.mutant,
            t0_ns=played.load.t0_ns,
            links=dict.fromkeys(played.links, course.lab.toxiproxy.kind) if played.links else {},
            parts=_parts(course.lab),
        ),
    )


def _parts(lab: Lab) -> dict[str, str]:
    """Say what took part, in words for the report."""
    own = "started by the lab"
    return {
        "PostgreSQL": own if lab.postgres.embedded else "given by --database-url",
        "Redis protocol": own if lab.valkey.embedded else "given by --redis-url",
        "network faults": lab.proxy.kind if lab.proxy is not None else "none: no link was proxied",
        "load": f"Locust {version('locust')}",
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
    }
