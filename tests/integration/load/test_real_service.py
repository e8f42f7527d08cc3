"""The load against real nodes of the built-in service: every habit is understood, and races are won once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from lastseat.nodes import Deployer
from scenarios.arrivals import Schedule, barrier, steady
from scenarios.history import gather
from scenarios.load import play
from scenarios.plan import lay_plan, people
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lastseat.lab import Lab


async def played(
    lab: Lab, dsn: str, folder: Path, *, sale: Sale, arrivals: Schedule, habits: Mapping[str, float]
) -> list[dict[str, Any]]:
    (folder / "journal").mkdir()
    scenario = Scenario(
        name="real_service",
        story="Real nodes.",
        sale=sale,
        crowd=Crowd(habits=habits, arrivals=arrivals),
        invariants=(),
        assumptions=(),
    )
    target = Builtin()
    deployer = Deployer(lab=lab, environment=target.environment(sale))
    await deployer.migrate(dsn)
    async with deployer.deploy(dsn, 2) as service:
        stage = await target.prepare(service.nodes, sale, run="run-1", actors=people(scenario, 1))
        plan = lay_plan(
            scenario,
            run="run-1",
            seed=1,
            nodes=tuple(service.nodes),
            target=target,
            stage=stage,
            folder=folder,
        )
        await play(plan, lab.spawn, within_seconds=60)
        with pytest.raises(TargetError, match="create_resource: 401"):
            await Builtin().prepare(service.nodes, sale, run="run-1", actors=1)
    return list(gather(folder).to_pylist())


async def test_each_last_seat_goes_to_one_of_ten(lab: Lab, database: str, tmp_path: Path) -> None:
    rows = await played(
        lab,
        database,
        tmp_path,
        sale=Sale(resources=12, capacity=1),
        arrivals=barrier(12, width=10),
        habits={"racer": 0.5, "careful_racer": 0.5},
    )
    assert Counter(row["outcome"] for row in rows) == {"ok": 12, "fail": 108}
    assert {row["code"] for row in rows if row["outcome"] == "fail"} <= {
        "CAPACITY_EXHAUSTED",
        "RESOURCE_REVISION_CONFLICT",
    }
    winners = [row for row in rows if row["outcome"] == "ok"]
    assert len({row["subject"] for row in winners}) == len({row["created"] for row in winners}) == 12


async def test_every_habit_is_understood_by_the_service(lab: Lab, database: str, tmp_path: Path) -> None:
    rows = await played(
        lab,
        database,
        tmp_path,
        sale=Sale(resources=4, capacity=20),
        arrivals=steady(rate=60, seconds=2),
        habits={"eager": 0.4, "double_clicker": 0.3, "canceller": 0.2, "abandoner": 0.1},
    )
    told = Counter((row["kind"], row["outcome"]) for row in rows)
    assert {("hold", "ok"), ("hold", "fail"), ("confirm", "ok"), ("cancel", "ok")} <= set(told)
    assert not any(outcome == "info" for _, outcome in told)
    twice = [row for row in rows if row["attempt"] == 2 and row["outcome"] == "ok"]
    assert twice
    first = {(row["kind"], row["key"]): row for row in rows if row["attempt"] == 1}
    for again in twice:
        once = first[again["kind"], again["key"]]
        assert again["replayed"]
        assert not once["replayed"]
        assert (again["body_digest"], again["created"]) == (once["body_digest"], once["created"])
        assert again["request_digest"] == once["request_digest"]
