"""A load that did not do what it was to do proves nothing, however well all that it sent was answered."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.scenarios.conftest import LASTSEAT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(240)

STILL_SECONDS = 2.0
END_SECONDS = 120.0


def test_a_load_process_that_stood_still_for_two_seconds_leaves_nothing_proven(tmp_path: Path) -> None:
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
        load = the_load(running.pid)
        load.send_signal(signal.SIGSTOP)
        time.sleep(STILL_SECONDS)  # so long is what is tried
        load.send_signal(signal.SIGCONT)
        said, _ = running.communicate(timeout=END_SECONDS)
    finally:
        running.kill()
        running.wait(END_SECONDS)
    assert running.returncode == 3, said
    assert "load_healthy does not hold" in said
    assert "ms at worst" in said


def the_load(pid: int) -> psutil.Process:
    (found,) = (
        process
        for process in psutil.Process(pid).children(recursive=True)
        if any("locustfile.py" in word for word in process.cmdline())
    )
    return found
