"""Nothing of a lab survives its runner, however the runner goes and whatever was broken at that moment."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat.leftovers import Leftover, find_leftovers, remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNNER = Path(__file__).with_name("lab_runner.py")
START_SECONDS = 60.0


def promised_seconds() -> float:
    """Return the promise, where the machine is not overrun by now; elsewhere only the end has to come."""
    return 2.0 if os.getloadavg()[0] <= (os.cpu_count() or 1) else 15.0


@dataclass
class Running:
    process: subprocess.Popen[str]
    folder: Path
    supervisor: int
    processes: list[psutil.Process]
    segment: int
    ports: list[int]
    marker: str

    def remains(self) -> list[str]:
        left = [name for process in self.processes if alive(process) and (name := named(process))]
        left += [f"folder {self.folder}"] if self.folder.exists() else []
        left += [f"shared memory {self.segment}"] if self.segment in segments() else []
        left += [f"port {port}" for port in self.ports if listens(port)]
        return left


@pytest.fixture
def temporary() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="supervisor-test-", dir="/tmp"))
    place.chmod(0o755)
    yield place
    for leftover in leftovers_in(place):
        remove(leftover)
    shutil.rmtree(place)


@pytest.fixture
def start(temporary: Path, tmp_path: Path) -> Iterator[Callable[[str], Running]]:
    started: list[subprocess.Popen[str]] = []
    up: list[Running] = []

    def start(mischief: str) -> Running:
        process = launch(temporary, tmp_path, mischief)
        started.append(process)
        assert process.stdout
        line = process.stdout.readline()
        assert line, f"the runner said nothing: {(tmp_path / 'runner.log').read_text()}"
        said = json.loads(line)
        processes = [found for pid, created in said["processes"] if (found := same(pid, created))]
        running = Running(
            process=process,
            folder=Path(said["folder"]),
            supervisor=said["supervisor"],
            processes=processes,
            segment=said["segment"],
            ports=said["ports"],
            marker=said["marker"],
        )
        up.append(running)
        return running

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()
    for running in up:
        assert_nothing_remains(running)


def launch(temporary: Path, run: Path, mischief: str) -> subprocess.Popen[str]:
    with (run / "runner.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, str(RUNNER), str(run), mischief],
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def same(pid: int, created: float) -> psutil.Process | None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return process if process.create_time() == created else None
    return None


def alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def named(process: psutil.Process) -> str:
    """Say which it is; empty where it has ended since."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return f"process {process.pid} {process.name()}"
    return ""


def unattached() -> set[int]:
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {int(line.split()[1]) for line in lines if line.split()[6] == "0"}


def segments() -> set[int]:
    return {int(line.split()[1]) for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def leftovers_in(temporary: Path) -> list[Leftover]:
    return [leftover for leftover in find_leftovers_at(temporary) if leftover.folder.parent == temporary]


def find_leftovers_at(temporary: Path) -> list[Leftover]:
    before, tempfile.tempdir = tempfile.tempdir, str(temporary)
    try:
        return find_leftovers()
    finally:
        tempfile.tempdir = before


def assert_nothing_remains(running: Running) -> None:
    deadline = time.monotonic() + promised_seconds()
    while (left := running.remains()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


@pytest.mark.parametrize(
    "mischief",
    [
        "nothing",
        "stopped backend",
        "stopped postmaster",
        "stopped child",
        "everything stopped",
        "crashed postgres",
        "killed postmaster",
        "forked runner",
    ],
)
def test_nothing_survives_a_killed_runner_with(mischief: str, start: Callable[[str], Running]) -> None:
    running = start(mischief)
    assert running.remains(), "the runner has brought nothing up, and this test would prove nothing"
    forked = psutil.Process(running.process.pid).children() if mischief == "forked runner" else []
    running.process.kill()
    assert_nothing_remains(running)
    for process in forked:
        if process.pid != running.supervisor:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_nothing_survives_a_runner_ended_by(number: signal.Signals, start: Callable[[str], Running]) -> None:
    running = start("stopped backend")
    running.process.send_signal(number)
    running.process.wait(promised_seconds() + 1)
    assert_nothing_remains(running)


def test_ctrl_c_reaches_only_the_runner(start: Callable[[str], Running]) -> None:
    running = start("nothing")
    ours = os.getsid(running.process.pid)
    assert {os.getsid(process.pid) for process in running.processes if alive(process)}.isdisjoint({ours})


@pytest.mark.parametrize("after_ms", [50, 150, 250, 350, 450, 550, 700, 900])
def test_ctrl_c_in_the_middle_of_the_start_leaves_nothing(
    after_ms: int, temporary: Path, tmp_path: Path
) -> None:
    before = segments()
    process = launch(temporary, tmp_path, "nothing")
    time.sleep(after_ms / 1000)  # the moment is the point here
    process.send_signal(signal.SIGINT)
    process.wait(promised_seconds() + 3)
    assert process.stdout
    process.stdout.close()
    deadline = time.monotonic() + promised_seconds()
    while (
        left := [*temporary.iterdir(), *working_in(temporary), *(unattached() - before)]
    ) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


def working_in(folder: Path) -> list[str]:
    found = []
    for process in psutil.process_iter(["cwd", "environ", "cmdline"]):
        about = process.info
        if (about["cwd"] or "").startswith(str(folder)) or str(folder) in " ".join(about["cmdline"] or ()):
            found.append(f"{process.pid} {about['cmdline']}")
    return found


def test_a_killed_supervisor_takes_its_children_along_and_its_folder_is_found_and_removed(
    start: Callable[[str], Running], temporary: Path
) -> None:
    running = start("stopped backend")
    assert leftovers_in(temporary) == [], "a living lab was taken for a leftover"
    direct = [
        process for process in running.processes if process.name() in ("valkey-server", "toxiproxy-server")
    ]
    assert direct
    os.kill(running.supervisor, signal.SIGKILL)
    deadline = time.monotonic() + promised_seconds()
    while any(alive(process) for process in direct) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(alive(process) for process in direct)
    (leftover,) = leftovers_in(temporary)
    assert leftover.marker == running.marker
    assert remove(leftover)
    assert_nothing_remains(running)
    assert leftovers_in(temporary) == []
