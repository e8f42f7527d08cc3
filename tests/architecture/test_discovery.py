"""What stands in a folder is found, and what names another thing names one that exists."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chaos import mutants
from checker import invariants
from checker.rule import read_rule
from scenarios import registry, validation
from scenarios.targets.builtin_actions import ACTIONS
from tests.oracle.by_hand import tripping, tripping_workers

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

ROOT = Path(__file__).parents[2]
PLANTED = mutants.discover()
RULES = invariants.load()


def modules(folder: str) -> set[str]:
    return {path.stem for path in (ROOT / folder).glob("*.py") if not path.stem.startswith("_")}


def example(page: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", (ROOT / "docs/how-to" / page).read_text(), re.DOTALL)
    assert found
    return found[1]


def test_every_file_of_a_scenario_is_a_scenario() -> None:
    assert set(registry.names()) == modules("scenarios/stories")


def test_every_file_of_a_planted_bug_is_a_planted_bug() -> None:
    assert {name.replace("-", "_") for name in PLANTED} == modules("chaos/mutants")


def test_every_file_of_an_invariant_is_an_invariant() -> None:
    files = [path for kind in ("*.sql", "*.py") for path in (ROOT / "checker/invariants").rglob(kind)]
    assert set(RULES) == {path.stem for path in files if path.name != "__init__.py"}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught_by_invariants_of_its_scenario_that_claim_its_kind(name: str) -> None:
    mutant = PLANTED[name]
    assert set(mutant.caught_by) <= set(registry.find(mutant.scenario).invariants)
    for invariant in mutant.caught_by:
        # A kind that is planted in several ways has a name for each: the kind's, and what is different.
        assert any(f"{name}-".startswith(f"{kind}-") for kind in RULES[invariant].catches), invariant


def test_every_invariant_is_tripped_by_a_planted_bug_or_by_a_run_written_by_hand() -> None:
    by_bugs = {name for mutant in PLANTED.values() for name in mutant.caught_by}
    by_hand = {name for name in RULES if hasattr(tripping, name) or hasattr(tripping_workers, name)}
    assert set(RULES) - by_bugs - by_hand == set()


@pytest.mark.parametrize("name", RULES)
def test_every_invariant_is_held_against_some_scenario(name: str) -> None:
    assert [scenario for scenario in registry.names() if name in registry.find(scenario).invariants]


def test_the_scenario_of_the_guide_would_be_played() -> None:
    written: dict[str, Scenario] = {}
    exec(compile(example("add-a-scenario.md", "python"), "add-a-scenario.md", "exec"), written)
    scenario = written["SCENARIO"]
    validation.refuse(scenario, names=validation.known(), actions=ACTIONS)
    with pytest.raises(validation.ScenarioRefused):
        validation.refuse(
            replace(scenario, invariants=("no_such",)), names=validation.known(), actions=ACTIONS
        )


def test_the_invariant_of_the_guide_can_be_read(tmp_path: Path) -> None:
    text = example("add-an-invariant.md", "sql")
    file = tmp_path / f"{text.split()[2]}.sql"
    file.write_text(text)
    assert read_rule(file, group="yours").name == file.stem
