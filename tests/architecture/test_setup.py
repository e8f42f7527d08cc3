"""`.ci/setup` ends every likely failure with one sentence that says what to do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("awk", "cat", "cksum", "df", "grep", "head", "id", "rm", "sed", "sh", "tail", "tee", "touch")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a folder with a space in its name."""
    folder = tmp_path / "a checkout"
    (folder / ".ci").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", ".ci/setup"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH of its own: the tools that the script uses, and no Python but what a test puts there."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return folder


def put(programs: Path, name: str, script: str) -> None:
    program = programs / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def setup(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", ".ci/setup"],
        check=False,
        cwd=checkout,
        env={
            "PATH": os.environ["PATH"],
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_CACHE_DIR": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
    )


def put_python_that_makes_nothing(programs: Path) -> None:
    """A Python that is fit but stops at `-m venv`: shows what setup began without waiting for it."""
    put(programs, "python3", f'case "$1" in -m) echo no; exit 1;; *) exec "{sys.executable}" "$@";; esac')


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def pretend_finished(checkout: Path) -> None:
    """Leave what a finished setup leaves: an environment with a Python, and the stamp."""
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to(sys.executable)
    made_from = subprocess.run(
        ["/bin/sh", "-c", "cksum pyproject.toml constraints.txt .ci/setup; pwd -P"],
        cwd=checkout,
        capture_output=True,
        check=True,
    )
    (checkout / ".venv/.lastseat").write_bytes(made_from.stdout)


def test_an_old_python_is_named_with_the_version_that_is_needed(checkout: Path, programs: Path) -> None:
    put(programs, "python3", 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac')
    ended = setup(checkout, PATH=str(programs))
    assert ended.returncode == 1
    assert ended.stderr == (
        "setup failed: Lastseat needs Python 3.11 or newer and found Python 3.9.2; "
        "install one, or name it: make setup PYTHON=/path/to/python3.12\n"
    )


def test_a_machine_without_python_is_told_which_to_install(checkout: Path, programs: Path) -> None:
    assert "needs Python 3.11 or newer and found no Python 3;" in setup(checkout, PATH=str(programs)).stderr


def test_a_python_without_venv_is_told_which_package_has_it(checkout: Path, programs: Path) -> None:
    put(programs, "python3", f'case "$2" in *ensurepip*) exit 1;; *) exec "{sys.executable}" "$@";; esac')
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert setup(checkout, PATH=str(programs)).stderr == (
        "setup failed: python3 comes without the venv module; "
        f"on Debian or Ubuntu: apt-get install python{minor}-venv\n"
    )


def test_a_python_that_does_not_exist_is_refused_by_name(checkout: Path) -> None:
    assert setup(checkout, PYTHON="python3.99").stderr.startswith(
        "setup failed: PYTHON=python3.99 is not a program"
    )


def test_an_unreachable_package_index_is_one_sentence(checkout: Path) -> None:
    ended = setup(checkout, PIP_INDEX_URL=f"http://127.0.0.1:{closed_port()}/", PYTHON=sys.executable)
    assert ended.returncode == 1
    assert ended.stderr.startswith("setup failed: the package index cannot be reached;")
    assert ended.stderr.count("\n") == 1


def test_a_half_made_environment_is_made_anew(checkout: Path, programs: Path) -> None:
    pretend_finished(checkout)
    put_python_that_makes_nothing(programs)
    (checkout / ".venv/.unfinished").touch()
    (checkout / ".venv/half").touch()
    ended = setup(checkout, PATH=str(programs))
    assert "an earlier setup was cut short: starting again" in ended.stdout
    assert ended.stderr == "setup failed: python3 could not make .venv: no\n"
    assert not (checkout / ".venv/half").exists()


def test_a_finished_environment_is_left_alone(checkout: Path) -> None:
    pretend_finished(checkout)
    ended = setup(checkout)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_modules_of_a_finished_environment_are_compiled(checkout: Path) -> None:
    (checkout / "service").mkdir()
    (checkout / "service/node.py").write_text("NODE = 1\n")
    pretend_finished(checkout)
    assert setup(checkout, PYTHONDONTWRITEBYTECODE="1").returncode == 0
    assert list((checkout / "service/__pycache__").glob("node.*.pyc"))


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_changed_dependency_is_noticed(checkout: Path, changed: str) -> None:
    pretend_finished(checkout)
    with (checkout / changed).open("a") as file:
        file.write("\n# changed\n")
    assert "==> setup: " in setup(checkout, PIP_INDEX_URL=f"http://127.0.0.1:{closed_port()}/").stdout


def test_a_moved_checkout_gets_an_environment_of_its_own(checkout: Path, programs: Path) -> None:
    pretend_finished(checkout)
    put_python_that_makes_nothing(programs)
    moved = checkout.rename(checkout.with_name("moved"))
    ended = setup(moved, PATH=str(programs))
    assert "==> setup: making .venv with" in ended.stdout


# Root is not held by a folder's permissions, so that there is nothing to be told; every other user runs it.
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(checkout: Path) -> None:
    checkout.chmod(0o555)
    try:
        ended = setup(checkout)
    finally:
        checkout.chmod(0o755)
    assert ended.stderr.startswith(f"setup failed: {checkout} cannot be written by ")
