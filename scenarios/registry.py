"""Finds scenarios: a file in `scenarios/stories/` *is* a scenario, and carries its name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TYPE_CHECKING

import scenarios.stories
from chaos.nearest import meant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from scenarios.scenario import Profile, Scenario


class UnknownScenario(Exception):  # noqa: N818 — the sentence is the message
    """There is no scenario of that name, or not in that profile."""


def names() -> tuple[str, ...]:
    """Return the names of all scenarios, sorted."""
    return tuple(sorted(_modules()))


def find(name: str, profile: Profile = "smoke") -> Scenario:
    """Return one scenario: the file's SCENARIO, or its FULL where the full profile is asked for; raises UnknownScenario."""
    module = _modules().get(name)
    if module is None:
        near = meant(name, names())
        raise UnknownScenario(f"there is no scenario {name!r}.{near} There are: {', '.join(names())}.")
    scenario: Scenario | None = getattr(module, "SCENARIO" if profile == "smoke" else "FULL", None)
    if scenario is None:
        raise UnknownScenario(f"scenario {name!r} has no {profile} profile.")
    if scenario.name != name or scenario.profile != profile:
        raise UnknownScenario(
            f"scenarios/stories/{name}.py says it is {scenario.name!r} in profile {scenario.profile!r}, not {profile!r}"
        )
    return scenario


def has(name: str, profile: Profile) -> bool:
    """Tell whether a scenario that there is has that profile."""
    return hasattr(_modules()[name], "SCENARIO" if profile == "smoke" else "FULL")


@cache
def _modules() -> Mapping[str, ModuleType]:
    found = iter_modules(scenarios.stories.__path__)
    return MappingProxyType(
        {module.name: import_module(f"scenarios.stories.{module.name}") for module in found}
    )
