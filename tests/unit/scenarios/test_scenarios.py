"""Scenarios are files; one that cannot mean anything is refused with a sentence before anything starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from chaos.faults import Cut, Kill, at, when
from checker.assumptions import happened, landed
from checker.brief import Assumption, Threshold
from lastseat.conditions import CONDITIONS
from lastseat.reach import places
from lastseat.workers import KINDS
from scenarios import registry, validation
from scenarios.arrivals import barrier, steady
from scenarios.habit import habits
from scenarios.plan import lay_plan, people
from scenarios.targets.builtin import Builtin
from scenarios.targets.builtin_actions import ACTIONS
from scenarios.targets.target import Actor, Node, Stage, Subject
from scenarios.thresholds import p99, recovers

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.scenario import Profile, Scenario

RACE = registry.find("last_seat_race")
KNOWN = validation.known(
    places={
        "link": ("edge-a", "edge-b", "pg-a", "pg-b", "redis-a", "redis-b"),
        "part": ("node-a", "postgres"),
        "provider": (),
    },
    conditions=("progress",),
    workers=("expiry", "notifier"),
)


def test_the_race_of_the_last_seat_is_two_hundred_times_ten() -> None:
    assert "last_seat_race" in registry.names()
    assert people(RACE, seed=1) == 2_000
    assert (RACE.sale.resources, RACE.sale.capacity) == (200, 1)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("profile", ["smoke", "full"])
def test_every_scenario_can_be_played_in_both_profiles(name: str, profile: str) -> None:
    scenario = registry.find(name, cast("Profile", profile))
    names = validation.known(places=places(scenario), conditions=CONDITIONS, workers=tuple(KINDS))
    validation.refuse(scenario, names=names, actions=ACTIONS)


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("profile", ["smoke", "full"])
def test_every_scenario_says_how_quick_is_quick_enough(name: str, profile: str) -> None:
    assert registry.find(name, cast("Profile", profile)).thresholds


@pytest.mark.parametrize("spelled", ["cut:redis-a@1s+1s", "cut", "redis-a"])
def test_a_fault_is_asked_after_by_its_name_its_kind_or_its_place(spelled: str) -> None:
    cut = at(seconds=1, inject=Cut("redis-a"), heal_after=1)
    scenario = replace(RACE, faults=(cut,), assumptions=(landed(spelled),))
    assert not list(validation.refusals(scenario, names=KNOWN, actions=ACTIONS))


def test_an_unknown_scenario_is_answered_with_those_there_are() -> None:
    with pytest.raises(registry.UnknownScenario, match="last_seat_race"):
        registry.find("last_set_race")


def test_without_the_barrier_the_same_buyers_come_one_by_one() -> None:
    calm = RACE.without_barrier()
    assert [piece.apart for piece in calm.crowd.arrivals.barriers()] == [True]
    assert people(calm, seed=1) == people(RACE, seed=1)
    assert not RACE.crowd.arrivals.barriers()[0].apart


def crowd(**changes: object) -> Scenario:
    return replace(RACE, crowd=replace(RACE.crowd, **changes))  # type: ignore[arg-type]  # a test may replace any field or part


def sale(**changes: object) -> Scenario:
    return replace(RACE, sale=replace(RACE.sale, **changes))  # type: ignore[arg-type]  # a test may replace any field or part


def assuming(name: str, parameters: dict[str, Any] | None = None) -> Scenario:
    return replace(RACE, assumptions=(Assumption(name=name, kind="vacuity", parameters=parameters or {}),))


def limited(threshold: Threshold) -> Scenario:
    return replace(RACE, thresholds=(threshold,))


IMPOSSIBLE = {
    "there is no habit 'lurker'": crowd(habits={"lurker": 1.0}),
    "sum to 0.5": crowd(habits={"racer": 0.5}),
    "must lie above 0": crowd(habits={"racer": 1.5, "careful_racer": -0.5}),
    "acts once": crowd(habits={"eager": 1.0}),
    "a deadline": crowd(deadline_seconds=0),
    "200 races need as many resources": sale(resources=5),
    "do not compete": sale(capacity=10),
    "nothing is on sale": sale(capacity=0),
    "a hold cannot last": sale(hold_seconds=0),
    "an offer cannot last": sale(offer_seconds=-1),
    "a lease cannot last": sale(lease_seconds=0),
    "an owner may have at least one seat": sale(owner_limit=0),
    "at least two buyers": crowd(arrivals=barrier(5, width=1)),
    "exceeds buyers_max": crowd(buyers_max=3),
    "cannot share a schedule": crowd(arrivals=barrier(5, width=5) + steady(rate=5, seconds=1)),
    "no invariant 'never_oversolt'": replace(RACE, invariants=("never_oversolt",)),
    "it names no invariant": replace(RACE, invariants=()),
    "an invariant twice": replace(RACE, invariants=("never_oversold", "never_oversold")),
    "it names no assumption": replace(RACE, assumptions=()),
    "no assumption 'hapened'": replace(RACE, assumptions=(Assumption(name="hapened", kind="vacuity"),)),
    "'happened' names nothing": assuming("happened"),
    "write kind:outcome": assuming("happened", {"hold": 1}),
    "the target has no 'holt'. Did you mean 'hold'?": assuming("happened", {"holt:ok": 1}),
    "'hold:ok' 0 times": assuming("happened", {"hold:ok": 0}),
    "is about none of its faults; it plans none": assuming("landed", {"redis": 1}),
    "fault cut:redis-a@1s+1s may fail to land unnoticed": replace(
        RACE,
        faults=(
            at(seconds=1, inject=Cut("redis-a"), heal_after=1),
            at(seconds=3, inject=Cut("pg"), heal_after=1),
        ),
        assumptions=(landed("redis", "pg"),),
    ),
    "write table:STATE": assuming("became", {"holds": 1}),
    "no such table has states": assuming("became", {"permits:OUT": 1}),
    "there is no such state; there are: ACTIVE, CONFIRMED": assuming("became", {"holds:GONE": 1}),
    "'contended' lacks at_least_share": assuming("contended"),
    "at_least_share from 0 to 1, not 50": assuming("contended", {"at_least_share": 50}),
    "at_least of 1 or more, a whole number, not 0": assuming("in_flight_together", {"at_least": 0}),
    "a number for at_least, not 'many'": assuming("in_flight_together", {"at_least": "many"}),
    "lag_ms_p99_max of 0 or more, not -1": assuming("load_healthy", {"lag_ms_p99_max": -1}),
    "has no parameter 'lag_ms_p50_max'; it takes": assuming("load_healthy", {"lag_ms_p50_max": 1}),
    "'history_complete' has no parameter 'at_least'; it takes none": assuming(
        "history_complete", {"at_least": 1}
    ),
    "there is no threshold 'p42'": limited(Threshold(name="p42", operation="hold")),
    "which the target has not. Did you mean 'hold'?": limited(p99("holt", below_seconds=1)),
    "needs below_seconds above 0, not 0": limited(p99("hold", below_seconds=0)),
    "needs within_seconds above 0, not -1": limited(recovers("hold", within_seconds=-1)),
    "fault cut:payment@1s+1s breaks 'payment'": replace(
        RACE, faults=(at(seconds=1, inject=Cut("payment"), heal_after=1),)
    ),
    "fault kill:node-c@1s+1s breaks 'node-c'; there are: node-a, postgres": replace(
        RACE, faults=(at(seconds=1, inject=Kill("node-c"), heal_after=1),)
    ),
    "waits for 'regress'; there are: progress": replace(
        RACE, faults=(when("regress", at_least=0.5, inject=Kill("node-a"), heal_after=1),)
    ),
    "no worker 'cleaner'; there are: expiry, notifier": replace(RACE, workers={"cleaner": 1}),
    "1 to 64 workers of a kind": replace(RACE, workers={"expiry": 0}),
    "a fault twice": replace(RACE, faults=2 * (at(seconds=1, inject=Cut("pg"), heal_after=1),)),
    "1 to 64 nodes": replace(RACE, nodes=0),
    "tells no story": replace(RACE, story=" "),
    "its name": replace(RACE, name="Last Seat"),
}


@pytest.mark.parametrize(("said", "scenario"), IMPOSSIBLE.items(), ids=IMPOSSIBLE.keys())
def test_what_cannot_be_is_refused_with_a_sentence(said: str, scenario: Scenario) -> None:
    with pytest.raises(validation.ScenarioRefused) as refused:
        validation.refuse(scenario, names=KNOWN, actions=ACTIONS)
    assert said in str(refused.value)


def test_a_habit_the_target_cannot_serve_is_refused() -> None:
    offered = {name: action for name, action in ACTIONS.items() if name != "hold_at_revision"}
    with pytest.raises(validation.ScenarioRefused, match="which the target does not offer"):
        validation.refuse(RACE, names=KNOWN, actions=offered)


def test_every_habit_says_what_it_does() -> None:
    assert all(habit.sentence.endswith(".") for habit in habits().values())
    assert all(habit.operations_max == 1 for habit in habits().values() if habit.then is None)


def test_the_journal_of_a_plan_has_room_for_every_operation(tmp_path: Path) -> None:
    open_loop = replace(
        RACE,
        crowd=replace(RACE.crowd, habits={"double_clicker": 1.0}, arrivals=steady(rate=100, seconds=2)),
        assumptions=(happened("hold:ok"),),
    )
    stage = Stage(resources=(Subject(id="1"),), actors=(Actor(owner="o", tenant="t"),))
    nodes = (Node(label="a", host="127.0.0.1", port=1),)
    plan = lay_plan(open_loop, run="r", seed=1, nodes=nodes, target=Builtin(), stage=stage, folder=tmp_path)
    assert plan.operations_max >= 200 * 4
