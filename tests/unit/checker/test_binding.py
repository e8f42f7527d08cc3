"""A query that names what there is not is refused before a run, and not found out after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.binding import refuse_unbound
from checker.invariants import InvariantError, load
from checker.rule import read_rule
from scenarios.targets.builtin import Builtin

if TYPE_CHECKING:
    from pathlib import Path

    from checker.rule import Rule

TABLES = Builtin().tables
HEADER = """\
-- name: own
-- sentence: All is well.
-- needs: state
-- rests on: nothing
-- catches: nothing
"""


def own(folder: Path, looked_at: str, counter_examples: str) -> Rule:
    path = folder / "own.sql"
    path.write_text(f"{HEADER}\n-- looked at\n{looked_at};\n\n-- counter-examples\n{counter_examples};\n")
    return read_rule(path, group="own")


COUNT = "SELECT count(*) FROM state.holds"


def test_every_built_in_invariant_can_be_asked_of_a_run_in_which_nothing_was_recorded() -> None:
    refuse_unbound(load().values(), TABLES)


@pytest.mark.parametrize(
    ("looked_at", "counter_examples", "said"),
    [
        (
            COUNT,
            "SELECT colour FROM state.holds",
            '`counter-examples` cannot be asked: Binder Error: .*"colour"',
        ),
        (
            "SELECT count(*) FROM state.hold",
            "SELECT id FROM state.holds",
            "`looked at` cannot be asked: Catalog Error",
        ),
        (COUNT, "SELECT id FROM state.holds WHERE quantity = now() + true", "cannot be asked"),
    ],
    ids=["a column", "a table", "a type"],
)
def test_what_there_is_not_is_named(tmp_path: Path, looked_at: str, counter_examples: str, said: str) -> None:
    with pytest.raises(InvariantError, match=said) as refused:
        refuse_unbound([own(tmp_path, looked_at, counter_examples)], TABLES)
    assert str(refused.value).startswith(f"{tmp_path}/own.sql: ")
    assert "\n" not in str(refused.value)


def test_derived_tables_can_be_asked(tmp_path: Path) -> None:
    query = "SELECT b.from_ns FROM broken b, occupancy o, waiting w, operations p"
    refuse_unbound([own(tmp_path, COUNT, query)], TABLES)
