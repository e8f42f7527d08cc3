"""The workflow runs the same two commands as a person does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW: dict[str, Any] = yaml.load(  # the base loader: YAML 1.1 reads the key `on` as true
    (ROOT / ".github/workflows/ci.yml").read_text(), yaml.BaseLoader
)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]


def runs(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_it_tests_then_plays_and_shows_the_verdicts() -> None:
    assert runs("test") == ["make test", "make proofs"]
    assert JOBS["run"]["needs"] == "test"
    assert runs("run")[0] == "make run"
    assert "GITHUB_STEP_SUMMARY" in runs("run")[1]


def test_the_evidence_is_kept_also_of_a_run_that_failed() -> None:
    kept = [step for step in JOBS["run"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [(step["if"], step["with"]["path"]) for step in kept] == [("always()", "runs/")]


def test_it_plants_every_bug_and_shows_who_caught_it() -> None:
    assert JOBS["mutants"]["needs"] == "test"
    command, shown = runs("mutants")
    assert command.startswith("make mutants")
    page = command.split("--markdown ")[1].rstrip('"')
    assert page in shown
    assert "GITHUB_STEP_SUMMARY" in shown


def test_the_oldest_python_that_is_promised_is_tested() -> None:
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert promised.removeprefix(">=") in JOBS["test"]["strategy"]["matrix"]["python"]


def test_it_may_only_read() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in JOBS.values())


@pytest.mark.parametrize("job", JOBS)
def test_no_job_runs_for_ever(job: str) -> None:
    assert 0 < int(JOBS[job]["timeout-minutes"]) <= 30


def test_actions_are_the_platforms_own_and_pinned_by_major_version() -> None:
    for step in STEPS:
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])


def test_make_knows_every_target_that_the_workflow_and_the_ci_script_call() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = [*runs("test"), *runs("run"), *runs("mutants"), (ROOT / ".ci/run").read_text()]
    assert {
        name for text in called for name in re.findall(r"^(?:exec )?make (\w+)", text, re.MULTILINE)
    } <= targets
