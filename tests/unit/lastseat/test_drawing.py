"""Reports are drawn beside the run: none is lost, one that fails costs no other, and none outlives its runner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil
import pytest

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
    async with Drawing.open(tmp_path / "drawing.log") as drawing:
        drawing.draw(judged, tmp_path / "runs")
        assert await drawing.finish() == []
    assert "last_seat_race" in (judged / "report.html").read_text()
    assert "last_seat_race" in (tmp_path / "runs" / "index.html").read_text()


async def test_a_report_that_fails_is_named_and_costs_no_other(judged: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "runs" / "last_seat_race" / "nothing"
    nothing.mkdir()
    async with Drawing.open(tmp_path / "drawing.log") as drawing:
        drawing.draw(nothing, tmp_path / "runs")
        drawing.draw(judged, tmp_path / "runs")
        (problem,) = await drawing.finish()
    assert str(nothing) in problem
    assert "verdict.json" in problem
    assert (judged / "report.html").is_file()


async def test_a_drawing_process_that_dies_is_told_and_not_waited_for(judged: Path, tmp_path: Path) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing:
        drawing.clerk.process.kill()
        await drawing.clerk.process.wait()
        drawing.draw(judged, tmp_path / "runs")
        async with asyncio.timeout(10):
            (problem,) = await drawing.finish()
    assert "its process has ended" in problem


async def test_it_ends_with_the_block_whatever_it_is_doing(tmp_path: Path) -> None:
    async with Drawing.open(tmp_path / "drawing.log") as drawing:
        process = psutil.Process(drawing.clerk.process.pid)
    assert not process.is_running()
