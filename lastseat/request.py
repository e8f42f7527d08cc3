"""What a person asked for, checked before anything starts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checker.assumptions import landed
from lastseat.options import Until

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.faults import Planned
    from scenarios.scenario import Profile, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The servers that are already there, by URL; None: the lab starts its own."""

    database_url: str | None = None
    redis_url: str | None = None
    toxiproxy_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One wish for runs: which scenarios, with which seed, bug and faults, and where the evidence goes.

    `names` may be empty where nothing was left of what was asked for; `said` is what a person is told of that.
    Each scenario is played `repeat` times with the same seed, or `until` one of its runs is so.
    `web` shows Locust's own page meanwhile, which changes nothing about a run.
    """

    names: tuple[str, ...]
    seed: int
    runs: Path
    servers: Servers = Servers()
    mutant: str | None = None
    faults: tuple[tuple[str, Planned], ...] = ()
    barrier: bool = True
    invariant_folders: tuple[Path, ...] = ()
    profile: Profile = "smoke"
    thresholds: bool = False
    repeat: int = 1
    until: Until = Until.NEVER
    web: bool = False
    said: tuple[str, ...] = ()

    @property
    def judges_thresholds(self) -> bool:
        """Whether a threshold that is not kept makes a run invalid; otherwise it is only reported."""
        return self.thresholds or self.profile == "full"

    def asked(self, scenario: Scenario) -> Scenario:
        """Return the scenario as this request plays it: with its extra faults, which must land, and without a barrier."""
        extra = tuple(planned for _, planned in self.faults)
        with_faults = replace(
            scenario,
            faults=(*scenario.faults, *extra),
            assumptions=(*scenario.assumptions, *(landed(planned.name) for planned in extra)),
        )
        return with_faults if self.barrier else with_faults.without_barrier()

    def command(self, scenario: str) -> str:
        """Return the command that plays this scenario again in the same way; URLs are left out, as they hold passwords."""
        words = ["lastseat", "run", scenario, "--seed", str(self.seed)]
        if self.profile != "smoke":
            words += ["--profile", self.profile]
        if self.thresholds:
            words.append("--thresholds")
        if self.mutant is not None:
            words += ["--mutant", self.mutant]
        for spelling, _ in self.faults:
            words += ["--fault", spelling]
        if not self.barrier:
            words.append("--no-barrier")
        for folder in self.invariant_folders:
            words += ["--invariants", str(folder)]
        return shlex.join(words)
