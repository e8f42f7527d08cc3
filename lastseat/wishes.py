"""Understands what a person typed, and refuses before anything starts what cannot be played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chaos import mutants
from chaos.faults import FaultSpellingError, parse
from checker.invariants import InvariantError
from checker.invariants import load as load_invariants
from lastseat.errors import UsageError
from lastseat.nodes import link_names
from lastseat.request import Request
from scenarios import registry, validation
from scenarios.targets.builtin import ACTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.schedule import Planned
    from lastseat.request import Servers
    from scenarios.scenario import Scenario


def understood(
    *,
    names: tuple[str, ...],
    seed: int,
    mutant: str | None,
    faults: tuple[str, ...],
    barrier: bool,
    invariant_folders: tuple[Path, ...],
    runs: Path,
    servers: Servers,
) -> Request:
    """Return the request, with every name in it known; raises UsageError saying what was wrong and what there is."""
    wanted = tuple(dict.fromkeys(names)) or registry.names()
    for name in wanted:
        _of_the_scenario(found(name))
    if mutant is not None:
        known_mutant(mutant)
    known_invariants(invariant_folders)
    return Request(
        names=wanted,
        seed=seed,
        runs=runs,
        servers=servers,
        mutant=mutant,
        faults=tuple((spelled, _fault(spelled, wanted)) for spelled in faults),
        barrier=barrier,
        invariant_folders=invariant_folders,
    )


def found(name: str) -> Scenario:
    """Return the scenario of that name; raises UsageError with the names there are."""
    try:
        return registry.find(name)
    except registry.UnknownScenario as unknown:
        raise UsageError(
            _sentence(unknown), remedy="`lastseat list` tells what each of them is."
        ) from unknown


def known_mutant(name: str) -> None:
    """Raise UsageError with the names there are, unless a planted bug has that name."""
    there = mutants.discover()
    if name not in there:
        raise UsageError(
            f"There is no planted bug {name!r}; there are: {', '.join(sorted(there)) or 'none'}.",
            remedy="`lastseat list` tells what each of them is.",
        )


def known_invariants(folders: tuple[Path, ...]) -> None:
    """Raise UsageError unless every .sql file of these folders is an invariant."""
    try:
        load_invariants(folders)
    except InvariantError as bad:
        raise UsageError(
            _sentence(bad), remedy="See checker/invariants/ for files that can be taken as a model."
        ) from bad


def _of_the_scenario(scenario: Scenario) -> None:
    try:
        validation.refuse(scenario, names=validation.known(), actions=ACTIONS)
    except validation.ScenarioRefused as refused:
        raise UsageError(_sentence(refused)) from refused


def _fault(spelled: str, wanted: tuple[str, ...]) -> Planned:
    """Read a fault and check that each scenario's lab has a link of that name."""
    try:
        planned = parse(spelled)
    except FaultSpellingError as bad:
        raise UsageError(_sentence(bad)) from bad
    where = planned.fault.where
    for name in wanted:
        links = link_names(found(name).nodes)
        if not any(link == where or link.startswith(f"{where}-") for link in links):
            groups = sorted({link.rpartition("-")[0] for link in links})
            raise UsageError(
                f"There is no link {where!r} in {name}.",
                remedy=f"There are the groups {', '.join(groups)} and the links {', '.join(links)}.",
            )
    return planned


def _sentence(error: Exception) -> str:
    words = str(error)
    return words[:1].upper() + words[1:]
