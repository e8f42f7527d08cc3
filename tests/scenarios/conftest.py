"""Runs of the command line as a user types it, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import msgspec
import pytest

from checker.verdict import Verdict
from scenarios import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEADLINE_SECONDS = 100
CATALOGUE = tuple(name for name in registry.names() if name != "last_seat_race")
"""Every scenario but the race, which has tests of its own."""
CATALOGUE_SECONDS = 900
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


def lastseat(*words: str, runs: Path, within_seconds: float = DEADLINE_SECONDS) -> Ran:
    """Run `lastseat` with these words to its end."""
    done = subprocess.run(
        [LASTSEAT, *words],
        env={**_environment(), "LASTSEAT_RUNS": str(runs)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=within_seconds,
        check=False,
    )
    return Ran(code=done.returncode, said=done.stdout + done.stderr, runs=runs)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Give a run a temporary folder of its own, which servers of another user can enter, to be found empty."""
    place = Path(tempfile.mkdtemp()).resolve()
    place.chmod(0o755)
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ran]:
    """Run `lastseat` with some words, once for all tests that type the same."""
    done: dict[tuple[str, ...], Ran] = {}

    def ran(*words: str) -> Ran:
        if words not in done:
            done[words] = lastseat(*words, runs=tmp_path_factory.mktemp("runs"))
        return done[words]

    return ran


@dataclass(frozen=True, slots=True)
class Run:
    """One run folder, and what stands in it."""

    folder: Path

    @property
    def verdict(self) -> Verdict:
        return msgspec.json.decode((self.folder / "verdict.json").read_bytes(), type=Verdict)

    def one(self, query: str) -> Any:
        """Ask the evidence for one value; a file of the folder stands in braces."""
        asked = query.replace("{", f"'{self.folder}/").replace("}", ".parquet'")
        ((value,),) = duckdb.sql(asked).fetchall()
        return value


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a proof that asks for the catalogue: `make proofs` would play all of it for that one."""
    both = [
        item.nodeid
        for item in items
        if item.get_closest_marker("proof") and "catalogue" in getattr(item, "fixturenames", ())
    ]
    if both:
        raise pytest.UsageError(f"a proof may not play the whole catalogue: {', '.join(both)}")


@pytest.fixture(scope="session")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Play the whole catalogue in one lab, as a user types it, and return each run by its scenario's name."""
    runs = tmp_path_factory.mktemp("catalogue")
    ran = lastseat("run", *CATALOGUE, runs=runs, within_seconds=CATALOGUE_SECONDS)
    assert ran.code in (0, 1, 3), ran.said
    return {name: Run(max((runs / name).iterdir())) for name in CATALOGUE}
