"""What stands in a folder is found, and what names another thing names one that exists."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chaos import mutants
from checker import invariants
from checker.rule import read_rule
from scenarios import registry, validation
from scenarios.targets.builtin_actions import ACTIONS

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

ROOT = Path(__file__).parents[2]
PLANTED = mutants.discover()
RULES = invariants.load()

KINDS = {
    "capacity": (
        "oversell-read-write",
        "oversell-subquery-guard",
        "counter-row-drift",
        "rowcount-ignored",
        "second-path-no-recheck",
        "lock-order",
        "partial-acquire",
    ),
    "holds": (
        "expired-confirmed",
        "never-released",
        "release-race",
        "wrong-units",
        "sweep-hits-confirmed",
        "sweep-deletes-confirmed",
        "release-not-owner",
        "zone-clock",
    ),
    "waitlist": (
        "newcomer-steals",
        "double-offer",
        "stops-at-bad-head",
        "coarse-order",
        "stale-offer-usable",
        "wrong-acceptor",
        "phantom-supply",
    ),
    "idempotency": (
        "check-then-insert",
        "upsert-clobbers",
        "payload-ignored",
        "scope-missing",
        "error-pinned",
        "stuck-in-progress",
        "claim-dropped-after-effect",
        "live-owner-judged-dead",
    ),
    "outbox": (
        "send-crash-resend",
        "no-claim",
        "claimed-forever",
        "poison-head",
        "dead-letter-drop",
        "gap-stalls",
        "publish-outside-commit",
        "early-redelivery",
    ),
    "redis": (
        "lock-expires",
        "redis-authority",
        "over-decrement",
        "failover-rollback",
        "ttl-less",
        "permit-leak",
        "fail-mode-wrong",
        "breaker-stuck-open",
    ),
    "leaders": ("two-leaders", "sweep-aborts", "offset-skip", "sweep-on-replica"),
    "postgresql": (
        "40001-unretried",
        "on-conflict-none",
        "advisory-leak",
        "answer-before-commit",
        "commit-unknown",
        "pool-never-reconnects",
        "skip-locked-head",
        "dirty-connection",
        "synchronous-commit-off",
    ),
    "limits": ("user-limit-race", "spoofed-identity", "stale-refusal", "timeout-orphan", "retry-storm"),
}
"""The kinds of bugs that people have reported, by what they are about: each is planted, and found."""

PLANTED_OTHERWISE = {
    "commit-unknown": {"commit-unknown", "commit-unknown-as-done"},
    "expired-confirmed": {"expired-confirmed", "expired-confirmed-while-waiting"},
    "fail-mode-wrong": {"fail-mode-wrong-closed", "fail-mode-wrong-open", "fail-mode-wrong-shedding"},
    "never-released": {
        "never-released-on-cancel",
        "never-released-on-decline",
        "never-released-on-expiry",
        "never-released-on-offer-expiry",
        "never-released-on-reservation-cancel",
    },
    "on-conflict-none": {"on-conflict-none", "on-conflict-none-as-new"},
    "phantom-supply": {"phantom-supply", "phantom-supply-after-close"},
    "redis-authority": {"redis-authority", "redis-authority-alone"},
    "retry-storm": {"retry-storm", "retry-storm-without-rest"},
    "spoofed-identity": {"spoofed-identity", "spoofed-identity-limit"},
    "sweep-aborts": {"sweep-aborts", "sweep-aborts-together"},
    "two-leaders": {"two-leaders", "two-leaders-lease-ignored"},
    "zone-clock": {"zone-clock", "zone-clock-behind", "zone-clock-node"},
}
"""Of those that are planted in more ways than one, or under more than their name: all of their ways."""

BY_HAND_ALONE: dict[str, str] = {}
"""The invariants that no bug of this service can violate, each with the reason: only a run written by hand trips them."""

PLANT_EACH = """
import os, sys, traceback
from chaos import mutants
import service.app, service.workers
os.environ["RESERVATION_REDIS_URL"] = "redis://127.0.0.1:1"
for name in sys.argv[1:]:
    if (child := os.fork()) == 0:
        try:
            mutants.plant(name)
        except BaseException:
            print(name, traceback.format_exc(limit=-1), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
"""Plants each in a process of its own, which has imported the service before and has nothing else planted."""


def is_of_kind(mutant: str, kind: str) -> bool:
    """Whether a planted bug is of a kind: one that is planted in several ways has a name for each, the kind's and more."""
    return f"{mutant}-".startswith(f"{kind}-")


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
        assert any(is_of_kind(name, kind) for kind in RULES[invariant].catches), invariant


@pytest.mark.parametrize("name", RULES)
def test_an_invariant_claims_no_kind_but_those_of_planted_bugs_that_it_has_to_catch(name: str) -> None:
    caught = [mutant.name for mutant in PLANTED.values() if name in mutant.caught_by]
    for kind in RULES[name].catches:
        assert any(is_of_kind(each, kind) for each in caught), kind


@pytest.mark.parametrize(
    ("section", "kind"), [(section, kind) for section in KINDS for kind in KINDS[section]]
)
def test_a_kind_of_bug_is_planted_in_all_its_ways_and_claimed_by_an_invariant(
    section: str, kind: str
) -> None:
    ways = {name for name, mutant in PLANTED.items() if is_of_kind(name, kind) and mutant.section == section}
    assert ways == PLANTED_OTHERWISE.get(kind, {kind})
    assert [name for name, rule in RULES.items() if kind in rule.catches]


def test_every_planted_bug_is_of_a_kind_that_is_known() -> None:
    kinds = [kind for section in KINDS.values() for kind in section]
    can_bite = [name for name, mutant in PLANTED.items() if not mutant.harmless]
    assert [name for name in can_bite if not any(is_of_kind(name, kind) for kind in kinds)] == []


def test_every_bug_can_be_planted_into_the_service_as_it_is() -> None:
    """One of those that reword a statement fails where that no longer says what it said."""
    planted = [sys.executable, "-c", PLANT_EACH, *PLANTED]
    ran = subprocess.run(planted, capture_output=True, text=True, timeout=120, check=True, cwd=ROOT)
    assert ran.stdout == ""


def test_every_invariant_is_tripped_by_a_planted_bug_but_for_those_that_none_can_trip() -> None:
    by_bugs = {name for mutant in PLANTED.values() for name in mutant.caught_by}
    assert set(RULES) - by_bugs == set(BY_HAND_ALONE)


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
