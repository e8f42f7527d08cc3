"""Reports are drawn beside the run: none is lost, one that fails costs no other, and none outlives its runner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat import drawing
from lastseat.drawing import Drawing
from lastseat.rejudging import write_verdict
from tests.unit.reports.made_up.folder import build
from tests.unit.reports.made_up.race import Recipe
from tests.unit.reports.made_up.verdict import verdict

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "last_seat_race" / "2026-05-04T12-30-00Z"
    folder.mkdir(parents=True)
    build(folder, Recipe())
    write_verdict(folder, verdict(folder))
    return folder


async def test_what_was_ordered_is_drawn_with_the_page_over_all_runs(judged: Path, tmp_path: Path) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing_:
        drawing_.draw(judged, tmp_path / "runs")
        assert await drawing_.finish() == []
    assert "last_seat_race" in (judged / "report.html").read_text()
    assert "last_seat_race" in (tmp_path / "runs" / "index.html").read_text()


async def test_a_report_that_fails_is_named_and_costs_no_other(judged: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "runs" / "last_seat_race" / "nothing"
    nothing.mkdir()
    async with Drawing.open(tmp_path / "drawing.log") as drawing_:
        drawing_.draw(nothing, tmp_path / "runs")
        drawing_.draw(judged, tmp_path / "runs")
        (problem,) = await drawing_.finish()
    assert str(nothing) in problem
    assert "verdict.json" in problem
    assert (judged / "report.html").is_file()


async def test_a_drawing_process_that_dies_is_told_and_not_waited_for(judged: Path, tmp_path: Path) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing_:
        drawing_.clerk.process.kill()
        await drawing_.clerk.process.wait()
        drawing_.draw(judged, tmp_path / "runs")
        async with asyncio.timeout(10):
            (problem,) = await drawing_.finish()
    assert "its process has ended" in problem


async def test_a_report_that_comes_too_late_is_not_taken_for_the_next(
    judged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing_:
        assert drawing_.clerk.process is not None
        drawing_.clerk.order(drawing.Order(folder="late", runs=str(tmp_path)))
        monkeypatch.setattr(drawing, "DRAW_SECONDS", 30.0)
        drawing_.draw(judged, tmp_path / "runs")
        assert await drawing_.finish() == []


async def test_it_ends_with_the_block_whatever_it_is_doing(tmp_path: Path) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing_:
        process = psutil.Process(drawing_.clerk.process.pid)
    assert not process.is_running()
