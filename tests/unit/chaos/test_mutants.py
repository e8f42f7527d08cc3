"""The planted bugs are found by their files, and a broken file is named."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from chaos import mutants
from chaos.faults import parse
from service.statements import parse as parse_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GOOD = """
from chaos.mutants import Mutant
MUTANT = Mutant(name="{name}", mechanism="m", section="capacity", reports=("a/b#1",), scenario="s", caught_by=("i",), faults={faults})
planted = []
def plant(): planted.append(1)
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Put the registry into an empty folder, and write files there."""
    before = set(sys.modules)
    monkeypatch.setattr(mutants, "__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def into(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)

    yield into
    for module in set(sys.modules) - before:
        del sys.modules[module]


def test_every_mutant_is_found_and_whole() -> None:
    found = mutants.discover()
    assert "oversell-read-write" in found
    assert tuple(found) == mutants.names()
    for mutant in found.values():
        assert all("#" in report and "/" in report for report in mutant.reports)
        assert [parse(spelled).name for spelled in mutant.faults] == list(mutant.faults)


def test_a_file_is_a_mutant(write: Callable[[str, str], None]) -> None:
    write("good_one", GOOD.format(name="good-one", faults=("latency:pg=1ms",)))
    assert list(mutants.discover()) == ["good-one"]
    assert mutants.plant("good-one").scenario == "s"
    assert sys.modules["chaos.mutants.good_one"].planted == [1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("import nowhere_at_all", "chaos/mutants/broken.py cannot be imported: ModuleNotFoundError"),
        ("def", "chaos/mutants/broken.py cannot be imported: SyntaxError"),
        ("", "chaos/mutants/broken.py defines no MUTANT"),
        ("from chaos.mutants import Mutant\nMUTANT = Mutant(name='broken')", "cannot be imported: TypeError"),
        (GOOD.format(name="broken", faults=()).partition("def plant")[0], "chaos/mutants/broken.py defines no function plant"),
        (GOOD.format(name="other", faults=()), "chaos/mutants/broken.py: its MUTANT is named 'other' instead of 'broken'"),
        (GOOD.format(name="broken", faults=()).replace('("i",)', "()"), "has no caught_by"),
        (GOOD.format(name="broken", faults=()).replace("capacity", "luck"), "its section 'luck' is none of"),
        (GOOD.format(name="broken", faults=("lateness:pg",)), "chaos/mutants/broken.py: unknown kind 'lateness'"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named(write: Callable[[str, str], None], text: str, problem: str) -> None:
    write("broken", text)
    with pytest.raises(mutants.BrokenMutant) as broken:
        mutants.discover()
    assert problem in str(broken.value)


def test_a_broken_file_does_not_hide_the_names(write: Callable[[str, str], None]) -> None:
    write("broken", "import nowhere_at_all")
    assert mutants.names() == ("broken",)


def test_what_several_mutants_have_in_common_is_none(write: Callable[[str, str], None]) -> None:
    write("good_one", GOOD.format(name="good-one", faults=()))
    write("_in_common", "THING = 1")
    assert list(mutants.discover()) == ["good-one"]
    with pytest.raises(mutants.UnknownMutant, match="known: good-one"):
        mutants.plant("-in-common")


def test_an_unknown_mutant_is_refused_with_the_known_names(write: Callable[[str, str], None]) -> None:
    write("good_one", GOOD.format(name="good-one", faults=()))
    with pytest.raises(mutants.UnknownMutant, match="there is no mutant 'bad-one'; known: good-one"):
        mutants.plant("bad-one")


def test_a_statement_is_reworded_only_where_it_says_so_exactly_once() -> None:
    named = {
        statement.name: statement
        for statement in parse_statements("-- name: look\n-- Looks.\nSELECT 1 WHERE :a AND 1 = 1\n")
    }
    mutants.reword(named, "look", was="SELECT 1", now="SELECT 2")
    assert named["look"].text == "SELECT 2 WHERE $1 AND 1 = 1"
    assert named["look"].parameters == ("a",)
    for absent_or_twice in ("SELECT 1", "1"):
        with pytest.raises(mutants.BrokenMutant, match="times, and not once"):
            mutants.reword(named, "look", was=absent_or_twice, now="")
