"""Understands what a person typed, and refuses before anything starts what cannot be played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaos import mutants
from chaos.faults import FaultSpellingError, parse
from chaos.nearest import meant
from chaos.nemesis import Contradiction, Nemesis
from checker.binding import refuse_unbound
from checker.invariants import InvariantError
from checker.invariants import load as load_invariants
from lastseat.choosing import choose
from lastseat.conditions import CONDITIONS
from lastseat.errors import UsageError
from lastseat.options import Until
from lastseat.reach import places, sketched
from lastseat.request import Request
from lastseat.workers import KINDS
from scenarios import registry, validation
from scenarios.targets.builtin import Builtin
from scenarios.targets.builtin_actions import ACTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from chaos.schedule import Planned
    from lastseat.choosing import Choice
    from lastseat.request import Servers
    from scenarios.scenario import Profile, Scenario


def understood(
    *,
    choice: Choice,
    seed: int,
    runs: Path,
    servers: Servers,
    mutant: str | None = None,
    faults: tuple[str, ...] = (),
    barrier: bool = True,
    invariant_folders: tuple[Path, ...] = (),
    thresholds: bool = False,
    repeat: int = 1,
    until: Until = Until.NEVER,
    web: bool = False,
) -> Request:
    """Return the request, with every name in it known; raises UsageError saying what was wrong and what there is."""
    if mutant is not None:
        known_mutant(mutant)
    known_invariants(invariant_folders)
    if until is not Until.NEVER and repeat == 1:
        raise UsageError(
            f"--until {until.value} ends repeats, and there are none.",
            remedy="Say with --repeat N how often to play at most.",
        )
    for name in choice.names:
        found(name, choice.profile)
    chosen = choose(choice, runs=runs, mutant=mutant)
    request = Request(
        names=chosen.names,
        said=chosen.said,
        seed=seed,
        runs=runs,
        servers=servers,
        mutant=mutant,
        faults=tuple((spelled, _fault(spelled)) for spelled in faults),
        barrier=barrier,
        invariant_folders=invariant_folders,
        profile=choice.profile,
        thresholds=thresholds,
        repeat=repeat,
        until=until,
        web=web,
    )
    for name in request.names:
        _of_the_scenario(request.asked(found(name, choice.profile)))
    _refuse_clashes([request.asked(found(name, choice.profile)) for name in request.names])
    return request


def found(name: str, profile: Profile = "smoke") -> Scenario:
    """Return the scenario of that name; raises UsageError with the names there are."""
    try:
        return registry.find(name, profile)
    except registry.UnknownScenario as unknown:
        raise UsageError(
            _sentence(unknown), remedy="`lastseat list` tells what each of them is."
        ) from unknown


def known_mutant(name: str) -> None:
    """Raise UsageError with the names there are, unless a planted bug has that name."""
    there = mutants.discover()
    if name not in there:
        raise UsageError(
            f"There is no planted bug {name!r}.{meant(name, there, most=3)}",
            remedy=f"`lastseat list` tells what each of the {len(there)} there are is.",
        )


def known_invariants(folders: tuple[Path, ...]) -> None:
    """Raise UsageError unless every file of these folders is an invariant whose tables and columns there are."""
    try:
        there = load_invariants(folders)
        own = there.keys() - load_invariants().keys()
        refuse_unbound([there[name] for name in sorted(own)], Builtin().tables)
    except InvariantError as bad:
        raise UsageError(
            _sentence(bad),
            remedy="See checker/invariants/ for files that can be taken as a model, and checker/canonical.py for the tables.",
        ) from bad


def _of_the_scenario(scenario: Scenario) -> None:
    names = validation.known(places=places(scenario), conditions=CONDITIONS, workers=tuple(KINDS))
    try:
        validation.refuse(scenario, names=names, actions=ACTIONS)
    except validation.ScenarioRefused as refused:
        raise UsageError(_sentence(refused), remedy="`lastseat list` tells what there is.") from refused


def _refuse_clashes(scenarios: Sequence[Scenario]) -> None:
    """Raise UsageError that names every scenario whose own faults do not go with those that were asked for."""
    clashes = []
    for scenario in scenarios:
        try:
            Nemesis(scenario.faults, sketched(scenario))
        except Contradiction as clash:
            clashes.append(f"  {scenario.name}: {clash}")
    if clashes:
        raise UsageError(
            "\n".join(
                ("These faults cannot be played together, as healing one would heal the other:", *clashes)
            ),
            remedy="Part their times, or play other scenarios: by name, or with -k.",
        )


def _fault(spelled: str) -> Planned:
    try:
        return parse(spelled)
    except FaultSpellingError as bad:
        raise UsageError(_sentence(bad)) from bad


def _sentence(error: Exception) -> str:
    """Return the error's words as a sentence; a path or a name at their beginning stays as it is spelled."""
    words = str(error)
    return words[:1].upper() + words[1:] if words.partition(" ")[0].isalpha() else words
