"""Which planted bugs are meant, how often each is played, and how the matrix is told."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from chaos import mutants
from chaos.mutants import Mutant
from checker.verdict import Judgement
from lastseat.docket import Season
from lastseat.errors import ExitCode, LabError, UsageError
from lastseat.matrix import Attempt, Control, Fate, Matrix, Row
from lastseat.proving import challenge, code, drawn_up
from lastseat.request import Servers
from lastseat.track_record import Circumstances, page, print_matrix

if TYPE_CHECKING:
    from lastseat.proving import Challenge


def bug(name: str, section: str = "capacity", **more: Any) -> Mutant:
    return Mutant(
        name=name, mechanism="m", section=section, reports=("a/b#1",), scenario="last_seat_race",
        **{"caught_by": ("never_oversold",), **more},
    )  # fmt: skip


THERE = {
    each.name: each
    for each in (
        bug("lost-line", "waitlist"),
        bug("over-race", racy=True),
        bug("over-plain"),
        bug("tame", harmless="it cannot happen here", caught_by=()),
    )
}


@pytest.fixture(autouse=True)
def _catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutants, "discover", lambda: THERE)


def asked(*patterns: str, **more: Any) -> Challenge:
    given = {"section": None, "seed": 1, "repeat": 1, "drawn": False, "page": None, **more}
    return challenge(patterns=patterns, runs=Path("runs"), servers=Servers(), **given)


def names(wanted: Challenge) -> list[str]:
    return [mutant.name for mutant in wanted.planted]


def test_without_a_name_all_are_meant_in_the_order_of_their_sections() -> None:
    assert names(asked()) == ["over-plain", "over-race", "tame", "lost-line"]


def test_names_may_be_globs_and_a_section_narrows_them() -> None:
    assert names(asked("over-*")) == ["over-plain", "over-race"]
    assert names(asked(section="waitlist")) == ["lost-line"]


@pytest.mark.parametrize(
    ("patterns", "section", "said"),
    [
        (["nothing"], None, "There is no planted bug 'nothing'[.]\n  `lastseat list` tells"),
        (["over-rase"], None, "Did you mean 'over-race'"),
        (["over-race", "x-*"], None, "There is no planted bug 'x-\\*'"),
        ([], "luck", "There is no section 'luck'; there are: capacity, holds"),
        (["over-*"], "waitlist", "None of these is of the section 'waitlist'"),
    ],
)
def test_what_is_unknown_is_refused_with_what_there_is(
    patterns: list[str], section: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        asked(*patterns, section=section)


def test_each_scenario_is_played_once_without_a_bug_and_the_harmless_are_not_played() -> None:
    turns = asked().turns()
    assert [(turn.filed, turn.mutant) for turn in turns] == [
        ("last_seat_race", None),
        ("over-plain", "over-plain"),
        ("over-race", "over-race"),
        ("lost-line", "lost-line"),
    ]
    assert {turn.runs for turn in turns} == {Path("runs/mutants")}
    assert turns[1].command == "lastseat run last_seat_race --seed 1 --mutant over-plain"


def test_only_racy_bugs_and_those_that_were_named_are_repeated() -> None:
    def seeds(wanted: Challenge) -> dict[str | None, list[int]]:
        return {
            mutant: [turn.seed for turn in wanted.turns() if turn.mutant == mutant]
            for mutant in (None, "over-plain", "over-race")
        }

    assert seeds(asked(repeat=3, seed=5)) == {None: [5], "over-plain": [5], "over-race": [5, 6, 7]}
    assert seeds(asked("over-plain", "over-race", repeat=2)) == {
        None: [1],
        "over-plain": [1, 2],
        "over-race": [1, 2],
    }


def test_a_turn_that_was_not_judged_counts_as_not_played() -> None:
    wanted = asked("over-plain")
    matrix = drawn_up(wanted, wanted.turns(), [])
    assert [row.fate for row in matrix.rows] == [Fate.FAILED]
    assert [control.judgement for control in matrix.controls] == [None]


def test_the_matrix_names_every_bug_every_alarm_and_what_is_not_planted() -> None:
    matrix = Matrix(
        rows=(
            Row(
                mutant=THERE["over-plain"],
                attempts=(
                    Attempt(
                        fate=Fate.CAUGHT, found_by=("seats_linearize", "never_oversold"), operations=1_234
                    ),
                ),
            ),
            Row(
                mutant=THERE["lost-line"],
                attempts=(Attempt(fate=Fate.BY_ANOTHER, found_by=("limits_hold",)),),
            ),
        ),
        controls=(Control(scenario="last_seat_race", judgement=Judgement.INVALID, reasons=("it lied",)),),
        harmless=(THERE["tame"],),
        there=len(THERE),
    )
    heard = io.StringIO()
    print_matrix(matrix, Console(file=heard))
    assert heard.getvalue().splitlines() == [
        "caught over-plain in=last_seat_race by=never_oversold besides=seats_linearize operations=1,234 runs=1/1",
        "caught by another lost-line in=last_seat_race by=– besides=limits_hold operations=– runs=0/1 (only by limits_hold)",
        "not planted tame: it cannot happen here",
        "control last_seat_race: it lied",
        "1 of 2 planted bugs caught by the invariants they name; without a bug 0 of 1 scenario held.",
    ]
    text = page(matrix, Circumstances(day="2031-01-02", machine="a machine", version="9"))
    assert (
        "| `over-plain` | `last_seat_race` | `never_oversold`; besides `seats_linearize` | 1,234 | 1 of 1 |"
        in text
    )
    assert "| –; besides `limits_hold` | – | 0 of 1: **only by limits_hold** |" in text
    assert "- `last_seat_race`: it lied" in text
    assert "2031-01-02, a machine, Lastseat 9" in text


def test_the_table_names_who_found_it_first_and_then_what_else_was_violated() -> None:
    caught = Attempt(fate=Fate.CAUGHT, found_by=("limits_hold", "never_oversold"))
    heard = io.StringIO()
    matrix = Matrix(rows=(Row(mutant=THERE["over-plain"], attempts=(caught,)),), controls=())
    print_matrix(matrix, Console(file=heard, force_terminal=True, width=120, color_system=None))
    assert "never_oversold; besides limits_hold" in heard.getvalue()


@pytest.mark.parametrize(
    ("attempts", "said"),
    [
        ({"over-plain": 1}, "Played: 1 of the 4 planted bugs there are. None of them bites only where"),
        ({"over-plain": 1, "over-race": 20}, "Played: 2 of the 4 planted bugs there are. 1 of them bite"),
        ({"over-race": 20}, "judged by 20 runs each, of which 99% have to catch them."),
        ({"over-race": 1}, "judged by 1 run each"),
    ],
)
def test_the_page_says_how_much_of_what_there_is_was_played(attempts: dict[str, int], said: str) -> None:
    rows = tuple(
        Row(mutant=THERE[name], attempts=(Attempt(fate=Fate.CAUGHT),) * many)
        for name, many in attempts.items()
    )
    matrix = Matrix(rows=rows, controls=(), there=len(THERE))
    assert said in page(matrix, Circumstances(day="d", machine="m", version="9"))


@pytest.mark.parametrize(
    ("fate", "ended"),
    [
        (Fate.CAUGHT, ExitCode.LAB_FAILED),
        (Fate.UNPROVEN, ExitCode.LAB_FAILED),
        (Fate.SURVIVED, ExitCode.VIOLATED),
    ],
)
def test_a_lab_that_fails_after_the_last_bug_is_no_success(fate: Fate, ended: ExitCode) -> None:
    matrix = Matrix(rows=(Row(mutant=THERE["over-plain"], attempts=(Attempt(fate=fate),)),), controls=())
    assert code(matrix, Season(failed=[LabError("the supervisor is gone")])) is ended
    assert code(matrix, Season()) is matrix.code


def test_how_many_bugs_there_are_is_counted_whatever_was_asked_for() -> None:
    assert drawn_up(asked("over-plain"), (), []).there == len(THERE)
