"""Refuses a scenario that cannot mean anything, before anything starts, with a sentence for each reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import checker
from chaos.fault import of_group
from chaos.nearest import meant
from checker import assumptions, thresholds
from scenarios.habit import habits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from importlib.resources.abc import Traversable

    from chaos.fault import Place
    from checker.brief import Threshold
    from scenarios.scenario import Scenario
    from scenarios.targets.target import Action

_NAME_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_NODES_MAX = 64


class ScenarioRefused(Exception):  # noqa: N818 — the sentences are the message
    """A scenario cannot be played as it stands; the message says why, one sentence a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The names a scenario may use, gathered from where each of them is defined; those of its lab are None where unknown.

    `places` are its links, parts and providers, by what a fault acts on; `workers` are the kinds there are.
    """

    invariants: Collection[str]
    assumptions: Collection[str]
    places: Mapping[Place, Collection[str]] | None = None
    conditions: Collection[str] | None = None
    workers: Collection[str] | None = None


def known(
    places: Mapping[Place, Collection[str]] | None = None,
    conditions: Collection[str] | None = None,
    workers: Collection[str] | None = None,
) -> Known:
    """Gather what there is: an invariant is a file in `checker/invariants/`; the rest is what the lab can have."""
    root = files(checker) / "invariants"
    return Known(
        invariants=frozenset(_stems(root)),
        places=places,
        conditions=conditions,
        workers=workers,
        assumptions=frozenset((*assumptions.names("vacuity"), *assumptions.names("evidence"))),
    )


def refuse(scenario: Scenario, *, names: Known, actions: Mapping[str, Action]) -> None:
    """Raise ScenarioRefused if the scenario cannot be played on a target with these actions."""
    reasons = tuple(refusals(scenario, names=names, actions=actions))
    if reasons:
        raise ScenarioRefused("\n".join((f"scenario {scenario.name!r} is refused:", *reasons)))


def refusals(scenario: Scenario, *, names: Known, actions: Mapping[str, Action]) -> Iterator[str]:
    """Yield one sentence for each reason why the scenario cannot be played."""
    yield from _of_the_sale(scenario)
    yield from _of_the_staff(scenario, names)
    yield from _of_the_crowd(scenario, actions)
    yield from _of_the_faults(scenario, names)
    yield from _of_the_judgement(scenario, names, actions)


def _of_the_sale(scenario: Scenario) -> Iterator[str]:
    sale = scenario.sale
    if not scenario.name or not _NAME_CHARS.issuperset(scenario.name):
        yield f"its name {scenario.name!r} may hold only small letters, digits and underscores"
    if not scenario.story.strip():
        yield "it tells no story"
    if sale.resources < 1 or sale.capacity < 1:
        yield f"nothing is on sale: {sale.resources} resources of capacity {sale.capacity}"
    for what, seconds in (("a hold", sale.hold_seconds), ("an offer", sale.offer_seconds)):
        if not 0 < seconds < math.inf:
            yield f"{what} cannot last {seconds} seconds"
    if sale.lease_seconds is not None and not 0 < sale.lease_seconds < math.inf:
        yield f"a lease cannot last {sale.lease_seconds} seconds"
    if sale.owner_limit is not None and sale.owner_limit < 1:
        yield f"an owner may have at least one seat, not {sale.owner_limit}"
    if not 1 <= scenario.nodes <= _NODES_MAX:
        yield f"it needs 1 to {_NODES_MAX} nodes, not {scenario.nodes}"


def _of_the_staff(scenario: Scenario, names: Known) -> Iterator[str]:
    for kind, many in scenario.workers.items():
        if names.workers is not None and kind not in names.workers:
            yield f"there is no worker {kind!r}; there are: {', '.join(names.workers)}"
        if not 1 <= many <= _NODES_MAX:
            yield f"it needs 1 to {_NODES_MAX} workers of a kind, not {many}"


def _of_the_crowd(scenario: Scenario, actions: Mapping[str, Action]) -> Iterator[str]:
    crowd = scenario.crowd
    yield from crowd.arrivals.refusals()
    for name, share in crowd.habits.items():
        habit = habits().get(name)
        if habit is None:
            yield f"there is no habit {name!r}; there are: {', '.join(sorted(habits()))}.{meant(name, habits())}"
        elif habit.opening not in actions:
            yield f"habit {name!r} opens with {habit.opening!r}, which the target does not offer"
        elif crowd.arrivals.barriers() and habit.then is not None:
            yield f"habit {name!r} goes on after its first answer; at a barrier a buyer acts once"
        if not 0 < share <= 1:
            yield f"the share of {name!r} must lie above 0 and at most at 1, not at {share}"
    if not math.isclose(sum(crowd.habits.values()), 1.0, abs_tol=1e-9):
        yield f"the shares of its habits sum to {sum(crowd.habits.values())}, not to 1"
    if crowd.deadline_seconds <= 0 or crowd.buyers_max < 1:
        yield f"buyers need a deadline and a bound above zero, not {crowd.deadline_seconds} s and {crowd.buyers_max}"
    races = sum(piece.races for piece in crowd.arrivals.barriers())
    if races > scenario.sale.resources:
        yield f"{races} races need as many resources; only {scenario.sale.resources} are on sale"
    yield from _of_the_widths(scenario)


def _of_the_widths(scenario: Scenario) -> Iterator[str]:
    for piece in scenario.crowd.arrivals.barriers():
        if piece.width <= scenario.sale.capacity:
            yield f"{piece.width} buyers do not compete for {scenario.sale.capacity} seats"
        if piece.width > scenario.crowd.buyers_max:
            yield f"a race of {piece.width} exceeds buyers_max, {scenario.crowd.buyers_max}"


def _of_the_faults(scenario: Scenario, names: Known) -> Iterator[str]:
    for planned in scenario.faults:
        fault, after = planned.fault, planned.after
        if names.places is not None:
            there = names.places[fault.acts_on]
            if not any(of_group(name, fault.where) for name in there):
                yield f"fault {planned.name} breaks {fault.where!r}; there are: {', '.join(sorted(there)) or 'none'}"
        if after is not None and names.conditions is not None and after.probe not in names.conditions:
            yield f"fault {planned.name} waits for {after.probe!r}; there are: {', '.join(names.conditions)}"
    if len({planned.name for planned in scenario.faults}) != len(scenario.faults):
        yield "it plans a fault twice"


def _of_the_judgement(scenario: Scenario, names: Known, actions: Mapping[str, Action]) -> Iterator[str]:
    if not scenario.invariants:
        yield "it names no invariant, so it could not fail"
    if not scenario.assumptions:
        yield "it names no assumption, so a run in which nothing happened would pass"
    for name in scenario.invariants:
        if name not in names.invariants:
            yield f"there is no invariant {name!r}.{meant(name, names.invariants)}"
    if len(set(scenario.invariants)) != len(scenario.invariants):
        yield "it names an invariant twice"
    for assumption in scenario.assumptions:
        if assumption.name not in names.assumptions:
            yield f"there is no assumption {assumption.name!r}.{meant(assumption.name, names.assumptions)}"
        yield from assumptions.refusals(assumption)
    yield from _of_what_must_have_been(scenario, actions)
    for threshold in scenario.thresholds:
        yield from _of_the_threshold(threshold, actions)


def _of_what_must_have_been(scenario: Scenario, actions: Mapping[str, Action]) -> Iterator[str]:
    """Yield what an assumption asks for that this story cannot bring about, and faults after which none asks."""
    kinds = {action.kind for action in actions.values()}
    words = {
        planned.name: {planned.name, planned.fault.kind, planned.fault.where} for planned in scenario.faults
    }
    faults = set().union(*words.values())
    asked = {word for each in scenario.assumptions if each.name == "landed" for word in each.parameters}
    for name, its_words in words.items():
        if asked.isdisjoint(its_words):
            yield f"fault {name} may fail to land unnoticed: no assumption 'landed' names it, its kind or its place"
    for assumption in scenario.assumptions:
        for named in assumption.parameters:
            kind = named.partition(":")[0]
            if assumption.name == "happened" and kind not in kinds:
                yield f"assumption 'happened' of {named!r}: the target has no {kind!r}.{meant(kind, kinds)}"
            if assumption.name == "landed" and named not in faults:
                planned = f"it plans: {', '.join(sorted(faults))}" if faults else "it plans none"
                yield f"assumption 'landed' of {named!r} is about none of its faults; {planned}"


def _of_the_threshold(threshold: Threshold, actions: Mapping[str, Action]) -> Iterator[str]:
    """Yield why a threshold cannot be measured, or cannot be kept."""
    kinds = {action.kind for action in actions.values()}
    if threshold.name not in thresholds.NAMES:
        yield f"there is no threshold {threshold.name!r}; there are: {', '.join(thresholds.NAMES)}"
    if threshold.operation not in kinds:
        near = meant(threshold.operation, kinds)
        yield f"threshold {threshold.name!r} is about {threshold.operation!r}, which the target has not.{near}"
    for name, value in threshold.parameters.items():
        if name.endswith("_seconds") and not (isinstance(value, int | float) and 0 < value < math.inf):
            yield f"threshold {threshold.name!r} of {threshold.operation!r} needs {name} above 0, not {value!r}"


def _stems(folder: Traversable) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _stems(entry)
        elif entry.name.endswith((".sql", ".py")) and not entry.name.startswith("_"):
            yield entry.name.rpartition(".")[0]
