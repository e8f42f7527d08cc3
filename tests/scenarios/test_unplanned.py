"""What goes wrong though no fault was planned: a load that stands still proves nothing, a node that dies is found out."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.scenarios.conftest import LASTSEAT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

STILL_SECONDS = 2.0
END_SECONDS = 120.0


@contextmanager
def race(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Play a race, and hand it over once its load is under way."""
    running = subprocess.Popen(
        [LASTSEAT, "run", "last_seat_race"],
        env={**os.environ, "LASTSEAT_RUNS": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert running.stdout is not None
        for line in running.stdout:
            if "2,000 buyers expected" in line and not line.strip().startswith("0 operations"):
                break
        yield running
    finally:
        running.kill()
        running.wait(END_SECONDS)


def the_process(pid: int, word: str) -> psutil.Process:
    """Find the last process of a run that has a word in its command line."""
    *_, found = (
        process
        for process in psutil.Process(pid).children(recursive=True)
        if any(word in each for each in process.cmdline())
    )
    return found


def test_a_load_process_that_stood_still_for_two_seconds_leaves_nothing_proven(tmp_path: Path) -> None:
    with race(tmp_path) as running:
        load = the_process(running.pid, "locustfile.py")
        load.send_signal(signal.SIGSTOP)
        time.sleep(STILL_SECONDS)  # so long is what is tried
        load.send_signal(signal.SIGCONT)
        said, _ = running.communicate(timeout=END_SECONDS)
    assert running.returncode == 3, said
    assert "load_healthy does not hold" in said
    assert "ms at worst" in said


def test_a_node_that_ends_though_nobody_broke_it_is_found_out(tmp_path: Path) -> None:
    with race(tmp_path) as running:
        the_process(running.pid, "service.node").kill()
        said, _ = running.communicate(timeout=END_SECONDS)
    assert running.returncode == 1, said
    assert "errors_are_earned violated" in said
