"""What a person asked for, checked before anything starts."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from checker.assumptions import landed

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.faults import Planned
    from scenarios.scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """The servers that are already there, by URL; None: the lab starts its own."""

    database_url: str | None = None
    redis_url: str | None = None
    toxiproxy_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One wish for runs: which scenarios, with which seed, bug and faults, and where the evidence goes."""

    names: tuple[str, ...]
    seed: int
    runs: Path
    servers: Servers = Servers()
    mutant: str | None = None
    faults: tuple[tuple[str, Planned], ...] = ()
    barrier: bool = True
    invariant_folders: tuple[Path, ...] = ()

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
        if self.mutant is not None:
            words += ["--mutant", self.mutant]
        for spelling, _ in self.faults:
            words += ["--fault", spelling]
        if not self.barrier:
            words.append("--no-barrier")
        for folder in self.invariant_folders:
            words += ["--invariants", str(folder)]
        return shlex.join(words)
