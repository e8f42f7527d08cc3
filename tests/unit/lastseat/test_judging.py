"""Runs are judged beside the season: one that cannot be judged is named, and costs no other and no wait."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat.errors import LabError
from lastseat.judging import Judging

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_folder_without_evidence_is_named_and_the_next_is_judged_all_the_same(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judging:
        for name in ("first", "second"):
            folder = tmp_path / name
            folder.mkdir()
            with pytest.raises(LabError, match=f"its evidence cannot be judged(?s:.*){name}"):
                await judging.judge(folder, ())


async def test_a_judging_process_that_dies_is_told_and_not_waited_for(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judging:
        assert judging.clerk.process is not None
        judging.clerk.process.kill()
        await judging.clerk.process.wait()
        async with asyncio.timeout(10):
            with pytest.raises(LabError, match="its process has ended"):
                await judging.judge(tmp_path, ())


async def test_it_ends_with_the_block_whatever_it_is_doing(tmp_path: Path) -> None:
    async with Judging.open(tmp_path / "judging.log") as judging:
        assert judging.clerk.process is not None
        process = psutil.Process(judging.clerk.process.pid)
    assert not process.is_running()
