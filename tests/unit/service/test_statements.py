"""Statements are named, told in a sentence, and take their time from the database."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service import statements
from service.statements import StatementError

SQL = Path(__file__).parents[3] / "service" / "reservation" / "sql"
FILES = sorted(path.stem for path in SQL.glob("*.sql"))
EVERY = [
    pytest.param(statement, id=f"{file}.{statement.name}")
    for file in FILES
    for statement in statements.load("service.reservation", file).values()
]


def test_a_file_is_read_into_statements_with_numbered_parameters() -> None:
    (statement,) = statements.parse(
        "-- name: take\n-- Takes a seat.\nSELECT :b::text, :a, :b WHERE x = 'HH24:MI';\n"
    )
    assert statement.sentence == "Takes a seat."
    assert statement.text == "SELECT $1::text, $2, $1 WHERE x = 'HH24:MI'"
    assert statement.parameters == ("b", "a")
    assert statement.values({"a": 1, "b": 2}) == [2, 1]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "-- name: take\nSELECT 1",
        "-- name: take\n-- Takes.\n",
        "-- name: a\n-- A.\nSELECT 1\n-- name: b\nSELECT 2",
        "-- name: a\n-- A.\nSELECT 1\n-- name: a\n-- A.\nSELECT 2",
    ],
)
def test_a_file_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(StatementError):
        statements.parse(text)


def test_a_parameter_too_many_or_too_few_is_refused() -> None:
    (statement,) = statements.parse("-- name: take\n-- Takes a seat.\nSELECT :a\n")
    with pytest.raises(TypeError):
        statement.values({"a": 1, "b": 2})
    with pytest.raises(KeyError):
        statement.values({"b": 2})


@pytest.mark.parametrize("statement", EVERY)
def test_each_says_in_a_sentence_what_it_does(statement: statements.Statement) -> None:
    assert re.fullmatch(r"[A-Z].*\.", statement.sentence)


@pytest.mark.parametrize("statement", EVERY)
def test_none_asks_a_clock_that_stands_still(statement: statements.Statement) -> None:
    frozen = r"\bnow\(\)|current_timestamp|transaction_timestamp|localtime"
    assert not re.search(frozen, statement.text, re.IGNORECASE)


@pytest.mark.parametrize("statement", EVERY)
def test_none_reads_the_clock_in_the_columns_of_the_select_that_locks(
    statement: statements.Statement,
) -> None:
    for locking in re.findall(
        r"SELECT((?:(?!SELECT).)*?)FOR (?:NO KEY UPDATE|UPDATE|SHARE)", statement.text, re.DOTALL
    ):
        columns = locking.split("FROM")[0]
        assert "clock_timestamp" not in columns


@pytest.mark.parametrize("statement", EVERY)
def test_only_a_search_that_is_judged_again_uses_the_statements_start(
    statement: statements.Statement,
) -> None:
    if "statement_timestamp" in statement.text:
        assert statement.name in {"due", "claim", "exhaust"}


@pytest.mark.parametrize("statement", EVERY)
def test_none_leaves_a_trace_in_its_session(statement: statements.Statement) -> None:
    """Connections are given back as they are (database._reset): a session's lock or setting would be the next caller's."""
    lasting = (
        r"^\s*SET\b|\bset_config\b|\bpg_(?:try_)?advisory_lock|\bLISTEN\b|\bTEMP\b|\bPREPARE\b|\bDECLARE\b"
    )
    assert not re.search(lasting, statement.text, re.IGNORECASE)
