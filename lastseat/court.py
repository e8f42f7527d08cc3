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
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lastseat.docket import Season, Setting, Turn
    from lastseat.drawing import Drawing
    from lastseat.judging import Judging

    Tell = Callable[[int, Judged], None]

LAST_VERDICTS_SECONDS = 10.0
"""How long a person who pressed Ctrl-C waits for verdicts on what was played to its end; most take a second."""
_DROP_SECONDS = 2.0


class Court:
    """The verdicts that are still to come; at the end of its block all of them are there, or said to be missing."""

    def __init__(self, setting: Setting, season: Season, clerks: tuple[Judging, Drawing], tell: Tell) -> None:
        """`tell` is given each turn's place and the turn, as soon as it is judged."""
        self._setting = setting
        self._season = season
        self._judging, self._drawing = clerks
        self._tell = tell
        self._heard: dict[asyncio.Task[None], tuple[Turn, Path]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for what is still open; where the season was, or now is, broken off on purpose, only a little while.

        Raises what a judging raised that no LabError tells; where the season ends by an error anyway, notes it.
        """
        if kind is not None and not issubclass(kind, Exception):
            await self._break_off()
        else:
            try:
                await self._all_done()
            except asyncio.CancelledError:
                await self._break_off()
                raise
        mistakes = list(self._mistakes())
        if mistakes and kind is None:
            raise mistakes[0][1]
        for task, mistake in mistakes:
            turn, folder = self._heard[task]
            why = f"it could not be judged: {type(mistake).__name__}: {mistake}"
            self._season.fail(
                turn, LabError(f"{turn.scenario.name} was played, but {why}", where=str(folder))
            )

    def hear(self, turn: Turn, folder: Path, began: float) -> None:
        """Have a turn judged, and go on."""
        place = len(self._heard) + 1
        self._heard[asyncio.create_task(self._judge(turn, folder, began, place))] = (turn, folder)

    async def adjourn(self) -> None:
        """Wait until everything that was heard has its verdict."""
        await self._all_done()
        for _, mistake in self._mistakes():
            raise mistake

    async def _all_done(self) -> None:
        """Wait as long as it takes, which the judging bounds; a cancellation ends the wait, and no judging with it."""
        if self._heard:
            await asyncio.wait(self._heard)

    async def _break_off(self) -> None:
        """Wait a little while, and note what has no verdict then."""
        if not self._heard:
            return
        _, late = await asyncio.wait(self._heard, timeout=LAST_VERDICTS_SECONDS)
        for task in [each for each in self._heard if each in late]:
            turn, folder = self._heard[task]
            task.cancel()
            dropped = LabError(
                f"{turn.scenario.name} was played to its end, but not judged before the season was broken off",
                where=str(folder),
                remedy=f"judge it with `lastseat check {folder}`",
            )
            self._season.fail(turn, dropped)
        if late:
            await asyncio.wait(late, timeout=_DROP_SECONDS)

    def _mistakes(self) -> Iterator[tuple[asyncio.Task[None], BaseException]]:
        for task in self._heard:
            if task.done() and not task.cancelled() and (mistake := task.exception()) is not None:
                yield task, mistake

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
