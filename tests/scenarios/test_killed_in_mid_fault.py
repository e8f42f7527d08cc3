"""A runner that is ended while something is broken leaves nothing broken behind, in its lab or in a proxy of others."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from lastseat.errors import ExitCode
from tests.scenarios.conftest import LASTSEAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]

UP_SECONDS = 90.0
GONE_SECONDS = 20.0
EVERY_SECONDS = 0.05


@pytest.fixture
def outside() -> Iterator[str]:
    """Run a proxy server that is none of the lab's, with somebody else's proxy in it."""
    with socket.socket() as picked:
        picked.bind(("127.0.0.1", 0))
        port = picked.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos.standin", "--host", "127.0.0.1", "--port", str(port)]
    )
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(url), "the proxy server")
        body = json.dumps({"name": "theirs", "listen": "127.0.0.1:0", "upstream": "127.0.0.1:1"}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{url}/proxies", data=body), timeout=5).close()
        yield url
    finally:
        process.kill()
        process.wait(UP_SECONDS)


def proxies(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/proxies", timeout=5) as answer:
        shown: dict[str, Any] = json.loads(answer.read())
    return shown


def broken(url: str) -> list[Any]:
    """Return the proxies that are cut or poisoned right now."""
    return [one for one in proxies(url).values() if one["toxics"] or not one["enabled"]]


def answers(url: str) -> bool:
    try:
        proxies(url)
    except OSError:
        return False
    return True


def until(met: Callable[[], object], what: str, alive: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + UP_SECONDS
    while not met():
        assert alive is None or alive.poll() is None, f"the run ended before {what}"
        assert time.monotonic() < deadline, f"{what} did not come in time"
        time.sleep(EVERY_SECONDS)  # between two looks; the loop around it has the deadline


@contextmanager
def race(tmp_path: Path, temporary: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "LASTSEAT_RUNS": str(tmp_path), "TMPDIR": str(temporary)}
    silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = subprocess.Popen([LASTSEAT, "run", "last_seat_race", *words], env=environment, **silent)  # type: ignore[call-overload]  # three streams
    try:
        yield process
    finally:
        process.kill()
        process.wait(UP_SECONDS)


def family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def ran_by(pid: int, word: str) -> list[psutil.Process]:
    found = []
    for process in family(pid):
        try:
            if word in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def stopped(pid: int) -> bool:
    for process in family(pid):
        try:
            if process.status() == psutil.STATUS_STOPPED:
                return True
        except psutil.NoSuchProcess:
            continue
    return False


def restarted(seen: set[int], pid: int) -> bool:
    """See a second Valkey, once there was a first."""
    seen.update(process.pid for process in ran_by(pid, "valkey-server"))
    return len(seen) > 1


def doctor(tmp_path: Path, temporary: Path, *words: str) -> str:
    """Have the doctor look, and return what it found of labs that were left behind: it has said so, and no traceback."""
    done = subprocess.run(
        [LASTSEAT, "doctor", *words],
        env={**os.environ, "LASTSEAT_RUNS": str(tmp_path), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=UP_SECONDS,
        check=False,
    )
    said = done.stdout + done.stderr
    # Of other labs on this machine it may find something too, and then ends with the code of what needs attention.
    assert done.returncode in (ExitCode.VALID, ExitCode.LAB_FAILED), said
    assert "leftovers  " in said, said
    return said.partition("leftovers  ")[2]


ENDINGS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
FAULTS = ["pause:node-b@progress=10%+60s", "pause:postgres@progress=10%+60s", "restart:redis@progress=10%"]


@ENDINGS
@pytest.mark.parametrize("fault", FAULTS)
def test_the_doctor_finds_nothing_of_a_run_that_was_ended_in_mid_fault(
    fault: str, number: signal.Signals, tmp_path: Path, temporary: Path
) -> None:
    seen: set[int] = set()
    with race(tmp_path, temporary, "--fault", fault) as run:
        landed = (lambda: restarted(seen, run.pid)) if "restart" in fault else (lambda: stopped(run.pid))
        until(landed, fault, run)
        everyone = family(run.pid)
        run.send_signal(number)
        code = run.wait(UP_SECONDS)
    _, alive = psutil.wait_procs(everyone, timeout=GONE_SECONDS)
    assert (alive, code) == ([], -9 if number is signal.SIGKILL else 130)
    assert str(temporary) not in doctor(tmp_path, temporary)
    assert list(temporary.iterdir()) == []


@ENDINGS
@pytest.mark.parametrize("fault", ["cut:redis@progress=10%+60s", "latency:pg=50ms@progress=10%+60s"])
def test_no_proxy_of_an_ended_run_is_left_in_a_proxy_server_of_others(
    fault: str, number: signal.Signals, tmp_path: Path, temporary: Path, outside: str
) -> None:
    with race(tmp_path, temporary, "--fault", fault, "--toxiproxy-url", outside) as run:
        until(lambda: broken(outside), fault, run)
        everyone = family(run.pid)
        run.send_signal(number)
        run.wait(UP_SECONDS)
    _, alive = psutil.wait_procs(everyone, timeout=GONE_SECONDS)
    assert (alive, list(proxies(outside))) == ([], ["theirs"])


def test_the_doctor_takes_back_the_proxies_of_a_run_whose_supervisor_was_killed_too(
    tmp_path: Path, temporary: Path, outside: str
) -> None:
    words = ("--fault", "cut:redis@progress=10%+60s", "--toxiproxy-url", outside)
    with race(tmp_path, temporary, *words) as run:
        until(lambda: broken(outside), "the cut", run)
        (supervisor,) = ran_by(run.pid, "lastseat.supervisor")
        run.kill()
        supervisor.kill()
        run.wait(UP_SECONDS)
    assert len(proxies(outside)) > 1, "somebody must be there to clean up"
    assert str(temporary) in doctor(tmp_path, temporary)
    doctor(tmp_path, temporary, "--clean")
    assert list(proxies(outside)) == ["theirs"]
    assert list(temporary.iterdir()) == []
