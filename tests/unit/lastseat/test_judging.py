"""Runs are judged beside the season: one that cannot be judged is named, and costs no other and no wait."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat import judging
from lastseat.clerk import Clerk
from lastseat.errors import LabError
from lastseat.judging import Judging

if TYPE_CHECKING:
    from pathlib import Path

NO_EVIDENCE = "its evidence cannot be judged(?s:.*)no journal in"


def folder_of(runs: Path, name: str) -> Path:
    folder = runs / name
    folder.mkdir()
    return folder


async def test_a_folder_without_evidence_is_named_and_the_next_is_judged_all_the_same(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judge:
        for name in ("first", "second"):
            folder = tmp_path / name
            folder.mkdir()
            with pytest.raises(LabError, match=f"its evidence cannot be judged(?s:.*){name}"):
                await judge.judge(folder, ())


async def test_a_judging_process_that_dies_is_started_again_and_costs_no_run_its_verdict(
    tmp_path: Path,
) -> None:
    async with Judging.open(tmp_path / "judging.log") as judge:
        assert judge.clerk.process is not None
        judge.clerk.process.kill()
        await judge.clerk.process.wait()
        async with asyncio.timeout(30):
            with pytest.raises(LabError, match=NO_EVIDENCE):
                await judge.judge(tmp_path, ())


async def test_a_judging_process_that_dies_of_every_order_is_told_and_not_started_for_ever(
    tmp_path: Path,
) -> None:
    async with Clerk.open("lastseat.nothing_of_that_name", tmp_path / "judging.log") as clerk:
        async with asyncio.timeout(30):
            with pytest.raises(LabError, match=r"its process has ended; see logs/judging\.log"):
                await Judging(clerk).judge(tmp_path, ())
    assert (tmp_path / "judging.log").read_text().count("nothing_of_that_name") <= judging.TRIES_MAX + 1


async def test_an_answer_that_comes_too_late_is_not_taken_for_the_next_run_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Judging.open(tmp_path / "judging.log") as judge:
        assert judge.clerk.process is not None
        stuck = psutil.Process(judge.clerk.process.pid)
        stuck.suspend()
        with monkeypatch.context() as hasty:
            hasty.setattr(judging, "JUDGE_SECONDS", 0.1)
            with pytest.raises(LabError, match="not done within"):
                await judge.judge(folder_of(tmp_path, "first"), ())
        with contextlib.suppress(psutil.NoSuchProcess):
            stuck.resume()
        async with asyncio.timeout(30):
            with pytest.raises(LabError, match=f"{NO_EVIDENCE}(?s:.*)second"):
                await judge.judge(folder_of(tmp_path, "second"), ())
        assert not stuck.is_running()


async def test_an_answer_for_another_run_is_never_taken(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judge:
        judge.clerk.order(judging.Order(folder=str(folder_of(tmp_path, "nobody_waits"))))
        with pytest.raises(LabError, match=f"{NO_EVIDENCE}(?s:.*)second") as told:
            await judge.judge(folder_of(tmp_path, "second"), ())
    assert "nobody_waits" not in str(told.value)


async def test_a_verdict_that_is_not_there_is_an_error_of_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def done(_self: Judging, order: judging.Order) -> judging.Answer:
        return judging.Answer(folder=order.folder)

    monkeypatch.setattr(Judging, "_asked", done)
    async with Clerk.open("unused", tmp_path / "judging.log", wanted=False) as clerk:
        with pytest.raises(LabError, match="its verdict cannot be read"):
            await Judging(clerk).judge(tmp_path, ())


async def test_it_ends_with_the_block_whatever_it_is_doing(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judge:
        assert judge.clerk.process is not None
        process = psutil.Process(judge.clerk.process.pid)
    assert not process.is_running()
