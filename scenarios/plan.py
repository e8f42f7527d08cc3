"""The load plan: everything a load process needs, laid out by the runner before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scenarios.arrivals import Barrier, Schedule
from scenarios.habit import habits
from scenarios.targets.target import Action, Node, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.scenario import Scenario
    from scenarios.targets.target import Target

LOAD_SECONDS_MIN = 60.0
LOAD_SECONDS_EACH = 0.05
"""Far more than an operation takes by itself, so that only a load which hangs is given up."""
_SLACK_OPERATIONS = 64


class LoadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One load process's part of a run. It holds tokens, so it never lies in a run folder.

    `journal` is the folder of the journals. `operations_max` sizes this shard's: past it nothing is sent. `arrivals`
    counts those of all shards, the last of them due `seconds` after t0; races come one after another, without a clock.
    """

    run: str
    scenario: str
    seed: int
    nodes: tuple[Node, ...]
    actions: dict[str, Action]
    warm: Action
    habits: dict[str, float]
    schedule: Schedule
    stage: Stage
    journal: str
    operations_max: int
    arrivals: int
    seconds: float
    deadline_seconds: float
    buyers_max: int
    shard: int = 0
    shards: int = 1


def load_seconds(arrivals: int, last_seconds: float) -> float:
    """Return how long a load may take whose last arrival is due so many seconds after t0."""
    return last_seconds + arrivals * LOAD_SECONDS_EACH + LOAD_SECONDS_MIN


def people(scenario: Scenario, seed: int) -> int:
    """Return how many different people the story needs: everyone in a race is someone else."""
    races = sum(piece.races * piece.width for piece in scenario.crowd.arrivals.barriers())
    return races or min(scenario.crowd.buyers_max, _arrivals(scenario.crowd.arrivals, seed))


def lay_plan(
    scenario: Scenario,
    *,
    run: str,
    seed: int,
    nodes: tuple[Node, ...],
    target: Target,
    stage: Stage,
    folder: Path,
) -> LoadPlan:
    """Lay out the load of one run into `folder`/journal; the runner's side fills in the shard."""
    arrivals, seconds = extent(scenario.crowd.arrivals, seed)
    each = max(habits()[name].operations_max for name in scenario.crowd.habits)
    return LoadPlan(
        run=run,
        scenario=scenario.name,
        seed=seed,
        nodes=nodes,
        actions=dict(target.actions),
        warm=target.warm,
        habits=dict(scenario.crowd.habits),
        schedule=scenario.crowd.arrivals,
        stage=stage,
        journal=str(folder / "journal"),
        operations_max=arrivals * each + _SLACK_OPERATIONS,
        arrivals=arrivals,
        seconds=seconds,
        deadline_seconds=scenario.crowd.deadline_seconds,
        buyers_max=scenario.crowd.buyers_max,
    )


def extent(schedule: Schedule, seed: int) -> tuple[int, float]:
    """Return how many arrive in all, and how many seconds after t0 the last of them is due; races have no clock."""
    last_ns = max((arrival.at_ns for arrival in schedule.arrivals(seed)), default=0)
    return _arrivals(schedule, seed), last_ns / 1e9


def _arrivals(schedule: Schedule, seed: int) -> int:
    racing = sum(piece.races * piece.width for piece in schedule.pieces if isinstance(piece, Barrier))
    return racing + sum(1 for _ in schedule.arrivals(seed))
