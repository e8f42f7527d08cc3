"""The sum of a season counts what was asked for, and says what became of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lastseat.closing import closing
from lastseat.docket import Season, Setting
from lastseat.options import Until
from lastseat.playing import needless
from lastseat.request import Servers
from tests.unit.lastseat.test_playing import HELD, OVERSOLD, _judged, _turn

if TYPE_CHECKING:
    from pathlib import Path


def setting(until: Until = Until.NEVER) -> Setting:
    ended = None if until is Until.NEVER else needless(until)
    return Setting(servers=Servers(), summary=lambda _judged: "", needless=ended)


def test_a_season_that_was_broken_off_says_what_was_not_finished() -> None:
    planned = [_turn(name) for name in "abcde"]
    season = Season(judged=[_judged(HELD, name) for name in "abcd"])
    (line,) = closing(planned, season, setting())
    assert line == "4 of 5 held; not finished: e."


def test_of_many_that_were_not_come_to_the_first_are_named() -> None:
    season = Season(judged=[_judged(HELD, "a")])
    (line,) = closing([_turn(name) for name in "abcdef"], season, setting())
    assert line == "1 of 6 held; not finished: b, c, d and 2 more."


def test_repeats_that_were_broken_off_are_counted() -> None:
    (line,) = closing([_turn("a")] * 5, Season(judged=[_judged(HELD, "a")]), setting())
    assert line == "1 of 5 held; not finished: a (4 times)."


def test_repeats_that_ended_early_as_was_asked_are_said_and_nothing_is_missing() -> None:
    planned = [_turn(name) for name in "ab"] * 5
    season = Season(judged=[_judged(HELD, "a"), _judged(OVERSOLD, "b"), *[_judged(HELD, "a")] * 4])
    early, line = closing(planned, season, setting(Until.INVALID))
    assert early == "b: ended after 1 of 5 runs, as --until asks."
    assert line == "5 of 6 held."


def test_a_run_that_could_not_be_played_did_not_hold() -> None:
    season = Season(judged=[_judged(HELD, "a")], unplayed=[_turn("b")])
    (line,) = closing([_turn("a"), _turn("b")], season, setting())
    assert line == "1 of 2 held."


def test_the_index_is_named_where_it_is(tmp_path: Path) -> None:
    turn = replace(_turn("a"), runs=tmp_path)
    assert len(list(closing([turn], Season(), setting()))) == 1
    (tmp_path / "index.html").touch()
    assert list(closing([turn], Season(), setting()))[1] == f"All runs: {tmp_path / 'index.html'}"
