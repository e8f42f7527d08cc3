"""What is installed is what was tested: the wheel holds every file of the six packages, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import entry_points, version
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=100,
    )
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for package in PACKAGES
        for path in (folder / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_every_file_of_the_packages(unpacked: Path) -> None:
    assert files(unpacked) == files(ROOT)


def test_the_wheel_holds_nothing_but_the_packages_and_what_is_said_of_them(unpacked: Path) -> None:
    assert {path.name for path in unpacked.iterdir()} - set(PACKAGES) == {
        f"lastseat-{version('lastseat')}.dist-info"
    }


def test_statements_templates_and_the_word_that_it_is_typed_are_in_it(unpacked: Path) -> None:
    held = files(unpacked)
    assert {f"{package}/py.typed" for package in PACKAGES} <= held
    for kind in (".sql", ".j2"):
        assert [name for name in held if name.endswith(kind)], kind


def test_the_command_works_from_the_wheel_alone(unpacked: Path, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import lastseat.cli as cli, sys; print(cli.__file__); cli.app(['--help'])"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(str(unpacked / "lastseat"))


def test_the_installed_command_is_the_commands_app() -> None:
    [command] = entry_points(group="console_scripts", name="lastseat")
    assert command.load() is import_module("lastseat.cli").app


def test_the_version_is_said_once() -> None:
    assert version("lastseat") == PROJECT["project"]["version"]
    assert f"[{version('lastseat')}]" in (ROOT / "CHANGELOG.md").read_text()
