"""Locust's own page may be looked at, and nothing on it can change a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ASKED = Path(__file__).with_name("asked_of_the_page.py")

ASSETS = "/assets/<path:path>"
REFUSED = {
    "/login",
    "/static/<path:filename>",
    "/stats/requests_full_history/csv",
    "/stats/reset",
    "/stop",
    "/swarm",
    "/user",
}


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """What the page shows, and the status of each method on each route of the Locust that is installed."""
    said = subprocess.run(
        [sys.executable, str(ASKED)], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    return dict(json.loads(said))


@pytest.fixture(scope="module")
def answers(asked: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {(method, path): status for method, path, status in asked["answers"]}


@pytest.fixture(scope="module")
def looked_at(asked: dict[str, Any]) -> set[str]:
    return set(asked["shown"])


def test_every_route_of_locust_is_known_to_be_shown_or_refused(
    answers: dict[tuple[str, str], int], looked_at: set[str]
) -> None:
    assert {path for _, path in answers} == looked_at | REFUSED | {ASSETS}


def test_what_is_shown_is_there(answers: dict[tuple[str, str], int], looked_at: set[str]) -> None:
    shown = {path for (method, path), status in answers.items() if method == "GET" and status == 200}
    assert shown == looked_at
    assert answers["GET", ASSETS] == 404  # there is no file of that name, and a file may be looked at


@pytest.mark.parametrize("path", sorted(REFUSED))
def test_what_changes_something_is_refused_by_any_method(
    path: str, answers: dict[tuple[str, str], int]
) -> None:
    assert {status for (_, asked), status in answers.items() if asked == path} == {403}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nobody_can_do_more_than_look(method: str, answers: dict[tuple[str, str], int]) -> None:
    assert {status for (by, _), status in answers.items() if by == method} == {403}
