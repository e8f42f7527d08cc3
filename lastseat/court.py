"""Has the turns of a season judged beside one another's start, and keeps what came of it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

from lastseat import folder as folders
from lastseat.docket import Judged
from lastseat.errors import LabError
from reports.terminal import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lastseat.docket import Season, Setting, Turn
    from lastseat.drawing import Drawing
    from lastseat.judging import Judging

    Tell = Callable[[int, Judged], None]


class Court:
    """The verdicts that are still to come; at the end of its block all of them are there."""

    def __init__(self, setting: Setting, season: Season, clerks: tuple[Judging, Drawing], tell: Tell) -> None:
        """`tell` is given each turn's place and the turn, as soon as it is judged."""
        self._setting = setting
        self._season = season
        self._judging, self._drawing = clerks
        self._tell = tell
        self._heard = 0
        self._open: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for what is still open; where the season was broken off on purpose, nobody waits."""
        if kind is not None and not issubclass(kind, Exception):
            for task in self._open:
                task.cancel()
        await asyncio.gather(*self._open, return_exceptions=kind is not None)

    def hear(self, turn: Turn, folder: Path, began: float) -> None:
        """Have a turn judged, and go on."""
        self._heard += 1
        self._open.append(asyncio.create_task(self._judge(turn, folder, began, self._heard)))

    async def adjourn(self) -> None:
        """Wait until everything that was heard has its verdict."""
        await asyncio.gather(*self._open)

    async def _judge(self, turn: Turn, folder: Path, began: float, place: int) -> None:
        try:
            verdict = await self._judging.judge(folder, self._setting.invariant_folders)
        except LabError as broken:
            self._season.fail(turn, broken)
            return
        folders.point_latest(turn.runs, folder)
        outcome = Outcome(verdict=verdict, seconds=time.monotonic() - began)
        judged = Judged(turn=turn, folder=folder, outcome=outcome)
        self._season.judged.append(judged)
        self._drawing.draw(folder, turn.runs)
        self._tell(place, judged)
