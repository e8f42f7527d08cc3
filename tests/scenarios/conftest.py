"""Runs of the command line as a user types it, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from checker.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

DEADLINE_SECONDS = 100
LASTSEAT = str(Path(sys.executable).with_name("lastseat"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended, what it said, and where its runs lie."""

    code: int
    said: str
    runs: Path

    @property
    def folder(self) -> Path:
        """The newest run folder."""
        return (self.runs / "latest").resolve()

    @property
    def verdict(self) -> Verdict:
        """The verdict that was written there."""
        return msgspec.json.decode((self.folder / "verdict.json").read_bytes(), type=Verdict)


def lastseat(*words: str, runs: Path) -> Ran:
    """Run `lastseat` with these words to its end."""
    done = subprocess.run(
        [LASTSEAT, *words],
        env={**_environment(), "LASTSEAT_RUNS": str(runs)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    return Ran(code=done.returncode, said=done.stdout + done.stderr, runs=runs)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}


@pytest.fixture(scope="session")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ran]:
    """Run `lastseat` with some words, once for all tests that type the same."""
    done: dict[tuple[str, ...], Ran] = {}

    def ran(*words: str) -> Ran:
        if words not in done:
            done[words] = lastseat(*words, runs=tmp_path_factory.mktemp("runs"))
        return done[words]

    return ran
