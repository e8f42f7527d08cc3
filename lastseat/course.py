"""The course of one run, as it is laid out before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.fault import of_group
from lastseat.nodes import link_names
from lastseat.workers import worker_links

if TYPE_CHECKING:
    from pathlib import Path

    from chaos.schedule import Planned
    from lastseat.lab import Lab
    from scenarios.scenario import Scenario
    from scenarios.targets.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What is to be run: one scenario with a seed, on a target in a lab, into a folder.

    `page_port` is where Locust's own page is shown while the load lasts; None: nowhere. `next_name` is what the run is called
    that follows in this lab, whatever is judged of those before it; None: there may be none.
    """

    name: str
    scenario: Scenario
    seed: int
    target: Target
    lab: Lab
    folder: Path
    mutant: str | None = None
    page_port: int | None = None
    next_name: str | None = None

    @property
    def faults(self) -> tuple[Planned, ...]:
        """The faults on its schedule."""
        return self.scenario.faults

    @property
    def environment(self) -> dict[str, str]:
        """The settings that nodes and workers are started with."""
        return {**self.target.environment(self.scenario.sale), **self.scenario.settings}

    @property
    def permits_max(self) -> int | None:
        """How many permits Redis has for the whole house, where the target says so in a setting."""
        said = self.environment.get(self.target.permits_setting or "")
        return int(said) if said else None

    @property
    def proxied(self) -> tuple[str, ...]:
        """The links that its faults touch; no other is proxied."""
        wanted = {planned.fault.where for planned in self.faults if planned.fault.acts_on == "link"}
        return tuple(
            link
            for link in (*link_names(self.scenario.nodes), *worker_links(self.scenario.workers))
            if any(of_group(link, where) for where in wanted)
        )
