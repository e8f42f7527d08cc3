"""Prints what a seed decides of every story, as JSON: `python laid_out.py SEED`, each time in a process of its own."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from scenarios import registry
from scenarios.chance import Shares
from scenarios.dispatch.race import _Course
from scenarios.dispatch.rush import _Buyer
from scenarios.habit import habits
from scenarios.plan import LoadPlan, lay_plan, people
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import Actor, Node, Stage, Subject

NODES = tuple(Node(label=label, host="127.0.0.1", port=place) for place, label in enumerate("ab"))


class Said(Exception):  # noqa: N818 - it carries what was said
    """The first request of a buyer, who need not go on."""


class Listener:
    """Takes the place of the client and keeps what buyers would send."""

    def prepare(self, action: str, **words: Any) -> list[Any]:
        return [action, words["node"], words["actor"].owner, words["values"]["resource"], words["arrival"]]

    def exchange(self, prepared: list[Any], _intended_ns: int) -> None:
        raise Said(prepared)


def opening(plan: LoadPlan, arrival: int) -> list[Any]:
    """What one arrival is: its habit, its first request, and a wait that its habit may draw."""
    name = Shares(plan.habits).drawn(plan.seed, arrival, "habit")
    buyer = _Buyer(plan, Listener(), arrival)  # type: ignore[arg-type]  # it speaks as a client does
    try:
        buyer.arrive(habits()[name].opening, 0)
    except Said as said:
        return [name, *said.args[0], buyer.chance("dwell")]
    raise AssertionError("nobody spoke")


def laid_out(name: str, seed: int) -> dict[str, Any]:
    story = registry.find(name)
    stage = Stage(
        resources=tuple(
            Subject(id=str(place), values={"resource": str(place)}) for place in range(story.sale.resources)
        ),
        actors=tuple(Actor(owner=f"buyer-{place}", tenant="t") for place in range(people(story, seed))),
    )
    plan = lay_plan(
        story, run="r", seed=seed, nodes=NODES, target=Builtin(), stage=stage, folder=Path("nowhere")
    )
    arrivals = list(plan.schedule.arrivals(seed))
    races = [
        _Course(plan, Listener(), barrier, 0, 0)._line_up(number, "hold")  # type: ignore[arg-type]  # as above
        for barrier in plan.schedule.barriers()
        for number in range(barrier.races)
    ]
    return {
        "arrivals": [[arrival.at_ns, arrival.id] for arrival in arrivals],
        "choices": [opening(plan, arrival.id) for arrival in arrivals] + [list(race) for race in races],
        "whole": [plan.operations_max, plan.arrivals, plan.seconds],
    }


if __name__ == "__main__":
    decided = {
        name: {
            part: hashlib.sha256(json.dumps(told).encode()).hexdigest()
            for part, told in laid_out(name, int(sys.argv[1])).items()
        }
        for name in registry.names()
    }
    json.dump(decided, sys.stdout)
