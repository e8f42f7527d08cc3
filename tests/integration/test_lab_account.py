"""A root runner's servers run as an unprivileged user, wherever the programs and temporary files lie."""

from __future__ import annotations

import dataclasses
import os
import pwd
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat import postgres_server, valkey
from lastseat.account import CHOICE, Bundle, can_reach, reachable, server_account, temporary_folder
from lastseat.errors import LabError
from lastseat.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# Where the lab is no root's, its servers run as whoever runs the tests, and all other tests of the lab are about that.
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root hands its servers to another user")


@pytest.fixture
def closed_home() -> Iterator[Path]:
    """A folder that only root may enter, as a home folder is."""
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))
    yield place
    shutil.rmtree(place)


@pytest.fixture
def open_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(dir="/var/tmp"))
    place.chmod(0o755)
    monkeypatch.setenv("LASTSEAT_CACHE", str(place / "cache"))
    yield place / "cache"
    shutil.rmtree(place)


def test_nobody_is_chosen_unless_the_user_names_another(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = server_account()
    assert chosen
    assert chosen.uid == pwd.getpwnam("nobody").pw_uid
    monkeypatch.setenv(CHOICE, "daemon")
    other = server_account()
    assert other
    assert other.name == "daemon"


@pytest.mark.parametrize("name", ["root", "no-such-user"])
def test_a_user_that_is_root_or_does_not_exist_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOICE, name)
    with pytest.raises(LabError, match="need an unprivileged user") as raised:
        server_account()
    assert raised.value.where == name


async def test_programs_under_a_closed_home_are_copied_once_into_the_cache_and_run_there(
    closed_home: Path, open_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (postgres_server, valkey):
        hide(module, closed_home, monkeypatch)
    inodes = set()
    for attempt in range(2):
        async with Lab.start(folder=tmp_path / str(attempt), with_toxiproxy=False) as lab:
            programs = [psutil.Process(child.pid).exe() for child in (lab.postgres.child, lab.valkey.child)]
            inodes.add(tuple(inode(program) for program in programs))
        assert all(program.startswith(str(open_cache)) for program in programs)
    assert len(inodes) == 1


def hide(module: ModuleType, closed_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = module.bundle()
    for part in bundle.parts:
        if (bundle.root / part).exists():
            shutil.copytree(bundle.root / part, closed_home / part, symlinks=True)
    hidden = dataclasses.replace(bundle, root=closed_home)
    monkeypatch.setattr(module, "bundle", lambda: hidden)


def inode(program: str) -> int:
    return Path(program).stat().st_ino


async def test_a_cache_that_the_user_cannot_reach_either_is_an_error_that_says_what_to_do(
    closed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTSEAT_CACHE", str(closed_home / "cache"))
    program = closed_home / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    bundle = Bundle("program-1", closed_home, ("program",), "program")
    with pytest.raises(LabError, match="can reach neither") as raised:
        await reachable(server_account(), bundle)
    assert "LASTSEAT_CACHE" in raised.value.remedy


async def test_a_program_on_the_path_is_copied_alone(closed_home: Path, open_cache: Path) -> None:
    (closed_home / "private").write_text("secret")
    program = closed_home / "toxiproxy-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    copy = await reachable(server_account(), Bundle("copy-1", closed_home, (program.name,), program.name))
    assert copy == open_cache / "copy-1" / "toxiproxy-server"
    assert can_reach(server_account(), copy)
    assert not (copy.parent / "private").exists()


async def test_a_closed_temporary_folder_is_passed_over(
    closed_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(closed_home))
    assert not can_reach(server_account(), closed_home)
    assert temporary_folder(server_account()) == Path("/tmp")
    async with Lab.start(folder=tmp_path, with_toxiproxy=False) as lab:
        assert lab.supervision.folder.parent == Path("/tmp")
