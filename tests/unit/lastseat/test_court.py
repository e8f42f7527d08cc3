"""What was played to its end gets its verdict or is said to have none, however the season ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from checker.verdict import Judgement, Verdict
from lastseat import court
from lastseat.court import Court
from lastseat.docket import Season, Setting, Turn
from lastseat.request import Servers
from scenarios import registry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lastseat.drawing import Drawing
    from lastseat.judging import Judging

VERDICT = Verdict(
    run="r", scenario="s", story="", profile="smoke", seed=1, target="t", command="", judgement=Judgement.VALID,
    reasons=(), findings=(), premises=(), operations=0, changes=0,
)  # fmt: skip


class Slow:
    """Judges when it is let, and may fail."""

    def __init__(self, mistake: Exception | None = None) -> None:
        self.let = asyncio.Event()
        self._mistake = mistake

    async def judge(self, _folder: Path, _invariant_folders: Sequence[Path]) -> Verdict:
        await self.let.wait()
        if self._mistake is not None:
            raise self._mistake
        return VERDICT

    def draw(self, _folder: Path, _runs: Path) -> None:
        pass


def court_of(judging: Slow, season: Season) -> Court:
    setting = Setting(servers=Servers(), summary=lambda _judged: "")
    clerks = (cast("Judging", judging), cast("Drawing", judging))
    return Court(setting, season, clerks, lambda _place, _judged: None)


def turn(runs: Path) -> Turn:
    story = registry.find("last_seat_race")
    return Turn(scenario=story, seed=1, mutant=None, command="", runs=runs, filed="s")


async def one_turn(runs: Path, judging: Slow, season: Season, ending: BaseException | None = None) -> None:
    """A season of one turn, which ends so after it."""
    async with court_of(judging, season) as hearing:
        hearing.hear(turn(runs), runs / "s", 0.0)
        if ending is not None:
            raise ending


async def test_ctrl_c_waits_a_little_for_the_verdict_on_what_was_played(tmp_path: Path) -> None:
    season, judging = Season(), Slow()
    asyncio.get_running_loop().call_later(0.05, judging.let.set)
    with pytest.raises(asyncio.CancelledError):
        await one_turn(tmp_path, judging, season, asyncio.CancelledError())
    assert [each.folder for each in season.judged] == [tmp_path / "s"]
    assert season.failed == []


async def test_what_has_no_verdict_by_then_is_said_with_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(court, "LAST_VERDICTS_SECONDS", 0.05)
    season = Season()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await one_turn(tmp_path, Slow(), season, asyncio.CancelledError())
    (dropped,) = season.failed
    assert "not judged before the season was broken off" in str(dropped)
    assert f"`lastseat check {tmp_path / 's'}`" in str(dropped)
    assert [each.filed for each in season.unplayed] == ["s"]


@pytest.mark.parametrize("adjourned", [True, False])
async def test_ctrl_c_while_the_last_verdicts_are_awaited_ends_no_judging(
    tmp_path: Path, adjourned: bool
) -> None:
    season, judging = Season(), Slow()
    waiting = asyncio.Event()

    async def play() -> None:
        async with court_of(judging, season) as hearing:
            hearing.hear(turn(tmp_path), tmp_path / "s", 0.0)
            waiting.set()
            if adjourned:
                await hearing.adjourn()

    playing = asyncio.create_task(play())
    async with asyncio.timeout(10):
        await waiting.wait()
        playing.cancel()
        asyncio.get_running_loop().call_later(0.05, judging.let.set)
        with pytest.raises(asyncio.CancelledError):
            await playing
    assert len(season.judged) == 1


async def test_a_mistake_in_a_judging_is_said_also_when_another_ends_the_season(tmp_path: Path) -> None:
    season, judging = Season(), Slow(KeyError("lost"))
    judging.let.set()
    with pytest.raises(ValueError, match="another"):
        await one_turn(tmp_path, judging, season, ValueError("another"))
    assert "it could not be judged: KeyError: 'lost'" in str(season.failed[0])


async def test_a_mistake_in_a_judging_ends_the_season_with_its_traceback(tmp_path: Path) -> None:
    season, judging = Season(), Slow(KeyError("lost"))
    judging.let.set()
    with pytest.raises(KeyError):
        await one_turn(tmp_path, judging, season)


async def test_a_mistake_in_a_judging_is_raised_as_soon_as_verdicts_are_awaited(tmp_path: Path) -> None:
    judging = Slow(KeyError("lost"))
    judging.let.set()
    hearing = court_of(judging, Season())
    hearing.hear(turn(tmp_path), tmp_path / "s", 0.0)
    with pytest.raises(KeyError):
        await hearing.adjourn()
