"""Toxiproxy is at hand before a run needs it, or it is said why not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from lastseat.fetch import fetch, main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def a_machine_without_toxiproxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOXIPROXY_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LASTSEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LASTSEAT_OFFLINE", "1")


def test_one_that_is_there_is_used_and_nothing_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "toxiproxy-server"
    program.touch(mode=0o755)
    main()
    assert capsys.readouterr().out == f"Toxiproxy 2.12.0 is at {program}\n"


def test_where_nothing_may_be_fetched_runs_use_the_stand_in() -> None:
    source = asyncio.run(fetch())
    assert source.program is None
    assert "LASTSEAT_OFFLINE is set" in source.notice


def test_a_wrong_wish_is_told_and_does_not_fail_the_setup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOXIPROXY_BIN", "/nowhere")
    main()
    assert "TOXIPROXY_BIN names no program that can be run" in capsys.readouterr().out
