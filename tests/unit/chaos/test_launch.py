"""The launcher tampers with a process and then runs a module in it as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WITNESS = """
import datetime, json, sys, time
from datetime import date, datetime as early
from service.reservation import holds
real = datetime.datetime.fromtimestamp(0, datetime.UTC)
print(json.dumps({
    "name": __name__, "argv": sys.argv, "take": holds.take.__module__,
    "time": time.time(), "ns": time.time_ns() / 1e9, "now": early.now(datetime.UTC).timestamp(),
    "naive": early.now().timestamp(), "struct": time.mktime(time.localtime()), "date": str(date.today()),
    "mine": str(date.fromtimestamp(time.time())),
    "monotonic": time.monotonic(), "sum": type(early.now() - early.now()).__name__,
    "alike": [isinstance(real, early), isinstance(real, date), isinstance(1, early), issubclass(early, date)],
}))
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "witness.py").write_text(WITNESS)
    return tmp_path


def launch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{root}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "chaos.launch", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_the_module_runs_as_main_with_its_own_arguments(module: Path) -> None:
    ended = launch(module, "--", "witness", "--port", "1", "--", "x")
    seen = json.loads(ended.stdout)
    assert seen["name"] == "__main__"
    assert Path(seen["argv"][0]).name == "witness.py"
    assert seen["argv"][1:] == ["--port", "1", "--", "x"]
    assert seen["take"] == "service.reservation.holds"
    assert abs(seen["time"] - time.time()) < 50


def test_a_mutant_is_planted_before_the_module_runs(module: Path) -> None:
    ended = launch(module, "--mutant", "oversell-read-write", "--", "witness")
    assert json.loads(ended.stdout)["take"] == "chaos.mutants.oversell_read_write"


@pytest.mark.parametrize("offset", [7_200.0, -7_200.0])
def test_the_wall_clock_is_shifted_and_the_monotonic_one_is_not(module: Path, offset: float) -> None:
    seen = json.loads(launch(module, f"--clock-offset={offset}", "--", "witness").stdout)
    for clock in ("time", "ns", "now", "naive", "struct"):
        assert abs(seen[clock] - time.time() - offset) < 50, clock
    assert seen["date"] == seen["mine"]
    assert abs(seen["monotonic"] - time.monotonic()) < 50


def test_datetimes_made_by_c_code_still_count_as_such(module: Path) -> None:
    seen = json.loads(launch(module, "--clock-offset=60", "--", "witness").stdout)
    assert seen["alike"] == [True, True, False, True]
    assert seen["sum"] == "timedelta"


def test_a_module_that_exits_ends_the_process_with_its_code(module: Path) -> None:
    (module / "leaver.py").write_text("raise SystemExit(7)")
    assert launch(module, "--", "leaver").returncode == 7


def test_an_unknown_mutant_exits_with_2_and_the_known_names(module: Path) -> None:
    ended = launch(module, "--mutant", "nonsense", "--", "witness")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "there is no mutant 'nonsense'; known: " in ended.stderr
    assert "oversell-read-write" in ended.stderr


CRASHER = """
import asyncio, crashed
async def work():
    for place in range(1, 4):
        print("before", place, crashed.add(place), await crashed.Counter().count(place), flush=True)
asyncio.run(work())
"""
CRASHED = """
def add(n):
    print("added", n, flush=True)
    return n
class Counter:
    async def count(self, n):
        print("counted", n, flush=True)
        return n
    @staticmethod
    def loose(): pass
def steps():
    yield 1
"""


@pytest.mark.parametrize(
    ("point", "last"),
    [
        ("crashed:add", None),
        ("crashed:add:after", "added 1"),
        ("crashed:add:before:3", "before 2 2 2"),
        ("crashed:Counter.count:2", "added 2"),
        ("crashed:Counter.count:after:2", "counted 2"),
    ],
)
def test_a_process_dies_at_its_crash_point(module: Path, point: str, last: str | None) -> None:
    (module / "crasher.py").write_text(CRASHER)
    (module / "crashed.py").write_text(CRASHED)
    ended = launch(module, f"--crash-at={point}", "--", "crasher")
    assert ended.returncode == -signal.SIGKILL
    assert (ended.stdout.splitlines() or [None])[-1] == last


@pytest.mark.parametrize(
    ("point", "problem"),
    [
        ("crashed", "is not of the form MODULE:FUNCTION"),
        ("crashed:add:0", "is not of the form"),
        ("crashed:subtract", "there is no crashed:subtract to crash at"),
        ("nowhere:add", "there is no nowhere:add to crash at"),
        ("crashed:Counter", "crashed:Counter is no function"),
        ("crashed:Counter.loose", "is a method of no instance"),
        ("crashed:steps", "is a generator"),
    ],
)
def test_a_crash_point_that_cannot_be_exits_with_2(module: Path, point: str, problem: str) -> None:
    (module / "crashed.py").write_text(CRASHED)
    ended = launch(module, f"--crash-at={point}", "--", "crashed")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert problem in ended.stderr


@pytest.mark.parametrize("arguments", [(), ("--",), ("--mutant", "oversell-read-write")])
def test_no_module_exits_with_2_and_the_usage(module: Path, arguments: tuple[str, ...]) -> None:
    ended = launch(module, *arguments)
    assert ended.returncode == 2
    assert "no module to run" in ended.stderr
    assert "usage: python -m chaos.launch" in ended.stderr


def test_the_driver_of_the_database_goes_on_making_true_instants(module: Path) -> None:
    """Its compiled part would take the shifted class for the true one, whose instances are smaller, and warn of that."""
    (module / "writer.py").write_text("import asyncpg\nprint(asyncpg.__name__)\n")
    ended = launch(module, "--clock-offset=3600", "--", "writer")
    assert ended.stdout.strip() == "asyncpg"
    assert "size changed" not in ended.stderr
