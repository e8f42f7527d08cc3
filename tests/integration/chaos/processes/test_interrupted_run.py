"""A run that is ended while PostgreSQL is stopped leaves no stopped process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

UP_SECONDS = 60.0
GONE_SECONDS = 20.0
"""Resuming takes milliseconds; what the run was waiting for then has its own deadlines."""
EVERY_SECONDS = 0.05


@pytest.fixture
def paused(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Play a race, and hand it over once its PostgreSQL is stopped."""
    lastseat = str(Path(sys.executable).with_name("lastseat"))
    process = subprocess.Popen(
        [lastseat, "run", "last_seat_race", "--fault", "pause:postgres@progress=10%+60s"],
        env={**os.environ, "LASTSEAT_RUNS": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + UP_SECONDS
        while not stopped(process.pid):
            assert process.poll() is None, "the run ended before the fault"
            assert time.monotonic() < deadline, "PostgreSQL was not stopped in time"
            time.sleep(EVERY_SECONDS)  # between two looks; the loop around it has the deadline
        yield process
    finally:
        process.kill()
        process.wait(UP_SECONDS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_stopped_process_stays(paused: subprocess.Popen[bytes], number: signal.Signals) -> None:
    family = psutil.Process(paused.pid).children(recursive=True)
    paused.send_signal(number)
    code = paused.wait(UP_SECONDS)
    _, alive = psutil.wait_procs(family, timeout=GONE_SECONDS)
    assert alive == []
    assert code == (-9 if number is signal.SIGKILL else 130)


def stopped(pid: int) -> list[psutil.Process]:
    found = []
    for process in psutil.Process(pid).children(recursive=True):
        try:
            if process.status() == psutil.STATUS_STOPPED:
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found
