"""Whatever ends the runner in the middle of a race, nothing that it started outlives it for long."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.scenarios.conftest import LASTSEAT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.proof

IN_THE_MIDDLE = "2,000 buyers expected"
UP_SECONDS = 60.0
GONE_SECONDS = 2.0
BUSY_FACTOR = 8
"""On a machine with more runnable tasks than processors, two seconds of work take longer on the clock."""


@pytest.fixture
def race(tmp_path: Path, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Play a race, and hand it over once its load is under way."""
    process = subprocess.Popen(
        [LASTSEAT, "run", "last_seat_race"],
        env={
            **os.environ,
            "LASTSEAT_RUNS": str(tmp_path),
            "TMPDIR": str(temporary),
            "PYTHONUNBUFFERED": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _wait_for_load(process)
        yield process
    finally:
        process.kill()
        process.wait(UP_SECONDS)
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_of_a_run_outlives_its_runner(
    race: subprocess.Popen[str], temporary: Path, number: signal.Signals
) -> None:
    family = psutil.Process(race.pid).children(recursive=True)
    assert len(family) >= 6, "the supervisor, PostgreSQL, Valkey, two nodes and the load"
    assert list(temporary.iterdir()), "the lab keeps its data in a private folder"
    race.send_signal(number)
    code = race.wait(UP_SECONDS)  # at once when killed; else after it has healed and ended what it started
    _, alive = psutil.wait_procs(family, timeout=_patience())
    assert alive == []
    assert list(temporary.iterdir()) == []
    assert code == (-9 if number is signal.SIGKILL else 130)


def _wait_for_load(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if IN_THE_MIDDLE in line and not line.strip().startswith("0 operations"):
            return
    pytest.fail("the race ended before its load was under way:\n" + "".join(said))


def _patience() -> float:
    return GONE_SECONDS * (1 if os.getloadavg()[0] <= 2 * (os.cpu_count() or 1) else BUSY_FACTOR)
