"""Toxiproxy is found, or fetched once, whole and verified; otherwise the stand-in says why it stands there."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat import proxy_source
from lastseat.errors import LabError
from lastseat.lab import Lab
from lastseat.proxy_source import MODULE, OFFLINE, RELEASE, obtain, release_name
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = "#!/bin/sh\necho this is toxiproxy\n"
GO = """#!/bin/sh
echo "$@" >> {calls}
{body}
"""


@pytest.fixture
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Toxiproxy, Go or a filled cache; returns a folder on its PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("LASTSEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TOXIPROXY_BIN", raising=False)
    monkeypatch.delenv(OFFLINE, raising=False)
    # A program in /usr/bin cannot be taken away by a test, and what it pretends is then not the case.
    if shutil.which("go") or shutil.which("toxiproxy-server"):
        pytest.skip("Go or Toxiproxy is installed among the system's own programs")
    return programs


def program(place: Path, text: str = PROGRAM) -> Path:
    place.write_text(text)
    place.chmod(0o755)
    return place


def install_go(programs: Path, body: str) -> Path:
    calls = programs / "calls"
    program(programs / "go", GO.format(calls=calls, body=body))
    return calls


def no_network(url: str, into: Path) -> None:
    raise OSError(f"no network to fetch {url} into {into}")


def serving(content: bytes) -> Callable[[str, Path], None]:
    def fetch(url: str, into: Path) -> None:
        assert url == RELEASE + release_name()
        into.write_bytes(content)

    return fetch


async def ask(
    lab: Lab, tmp_path: Path, fetch: Callable[[str, Path], None] = no_network
) -> proxy_source.Source:
    return await obtain(lab.supervision, tmp_path / "build.log", lambda _: None, fetch)


async def test_the_program_named_by_the_user_comes_before_all_others(
    lab: Lab, empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(empty_machine / "toxiproxy-server")
    named = program(tmp_path / "my-proxy")
    monkeypatch.setenv("TOXIPROXY_BIN", str(named))
    assert (await ask(lab, tmp_path)).program == named


async def test_the_program_on_the_path_comes_before_the_cache(
    lab: Lab, empty_machine: Path, tmp_path: Path
) -> None:
    proxy_source.cached().parent.mkdir(parents=True)
    program(proxy_source.cached())
    assert (await ask(lab, tmp_path)).origin == "cache"
    on_path = program(empty_machine / "toxiproxy-server")
    assert (await ask(lab, tmp_path)).program == on_path


async def test_a_named_program_that_is_not_there_is_an_error_and_not_passed_over(
    lab: Lab, empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(empty_machine / "toxiproxy-server")
    monkeypatch.setenv("TOXIPROXY_BIN", str(tmp_path / "gone"))
    with pytest.raises(LabError, match="TOXIPROXY_BIN"):
        await ask(lab, tmp_path)


async def test_it_is_built_once_for_two_runs_at_the_same_time(
    lab: Lab, empty_machine: Path, tmp_path: Path
) -> None:
    calls = install_go(empty_machine, f"sleep 0.3; printf '{PROGRAM}' > $GOBIN/server".replace("\n", "\\n"))
    sources = await asyncio.gather(ask(lab, tmp_path), ask(lab, tmp_path), ask(lab, tmp_path))
    assert {source.program for source in sources} == {proxy_source.cached()}
    assert os.access(proxy_source.cached(), os.X_OK)
    (call,) = calls.read_text().splitlines()
    assert call.startswith("install ")
    assert call.endswith(MODULE)
    assert [path.name for path in proxy_source.cached().parent.iterdir()] == ["toxiproxy-server"]


async def test_where_go_fails_the_known_release_file_is_taken(
    lab: Lab, empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_go(empty_machine, "echo 'go: no such host' >&2; exit 1")
    known = {release_name(): hashlib.sha256(PROGRAM.encode()).hexdigest()}
    monkeypatch.setattr(proxy_source, "SHA256", known)
    source = await ask(lab, tmp_path, serving(PROGRAM.encode()))
    assert source.program == proxy_source.cached()
    assert os.access(source.program, os.X_OK)


async def test_a_release_file_with_another_sum_is_never_kept(
    lab: Lab, empty_machine: Path, tmp_path: Path
) -> None:
    assert not (empty_machine / "go").exists()
    source = await ask(lab, tmp_path, serving(b"#!/bin/sh\nrm -rf /\n"))
    assert source.program is None
    assert "is not the known one" in source.notice
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [".toxiproxy-2.12.0.lock"]


async def test_without_any_way_the_stand_in_says_why_and_what_to_do(
    lab: Lab, empty_machine: Path, tmp_path: Path
) -> None:
    install_go(empty_machine, "exit 1")
    source = await ask(lab, tmp_path)
    assert source.program is None
    assert "`go install" in source.notice
    assert "no network" in source.notice
    assert "TOXIPROXY_BIN" in source.notice


async def test_a_build_that_hangs_is_ended_with_its_children(
    lab: Lab, empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_source, "BUILD_SECONDS", 0.5)
    install_go(empty_machine, f"sleep 600 & echo $! > {tmp_path}/pid; wait")
    source = await ask(lab, tmp_path)
    assert source.program is None
    pid = int((tmp_path / "pid").read_text())

    async def gone() -> bool | None:
        return None if psutil.pid_exists(pid) else True

    await until(gone, within_seconds=5, failing=lambda _: LabError(f"the build's child {pid} is still there"))


async def test_nothing_is_fetched_offline_and_the_stand_in_proxies(
    empty_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = install_go(empty_machine, "exit 1")
    monkeypatch.setenv(OFFLINE, "1")
    async with Lab.start(folder=tmp_path / "run") as lab:
        assert lab.toxiproxy.kind == "stand-in"
        assert OFFLINE in lab.toxiproxy.notice
    assert not calls.exists()
