"""An invariant's file is read strictly: what is wrong with it is said with the line it stands in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.brief import Brief, CanonicalTable
from checker.invariants import InvariantError, group, load, not_offered
from checker.rule import read_rule

ROOT = Path(__file__).parents[3]
GOOD = """\
-- name: {name}
-- sentence: Every hold belongs to a resource
--   that exists.
-- needs: trail, holds.resource, resources
-- rests on: trail_complete
-- catches: never-released

-- looked at
SELECT count(*) FROM state.holds;

-- counter-examples
-- Why this is asked in such a way.
SELECT id FROM state.holds;
"""


def written(folder: Path, text: str = GOOD, name: str = "no_hold_floats") -> Path:
    path = folder / f"{name}.sql"
    path.write_text(text.replace("{name}", name))
    return path


def test_a_good_file_is_read_in_all_its_parts(tmp_path: Path) -> None:
    rule = read_rule(written(tmp_path), group="own")
    assert (rule.name, rule.group) == ("no_hold_floats", "own")
    assert rule.sentence == "Every hold belongs to a resource that exists."
    assert rule.needs == ("trail", "holds.resource", "resources")
    assert (rule.rests_on, rule.catches) == (("trail_complete",), ("never-released",))
    assert rule.looked_at == "SELECT count(*) FROM state.holds"
    assert rule.counter_examples.endswith("SELECT id FROM state.holds")


def test_a_pass_may_rest_on_more_than_a_finding_does(tmp_path: Path) -> None:
    text = GOOD.replace("-- catches", "-- a pass rests on: history_complete\n-- catches")
    rule = read_rule(written(tmp_path, text), group="own")
    assert (rule.rests_on, rule.pass_rests_on) == (("trail_complete",), ("history_complete",))


def test_a_violation_may_rest_on_more_than_a_pass_does(tmp_path: Path) -> None:
    text = GOOD.replace("-- catches", "-- a violation rests on: processors_free\n-- catches")
    rule = read_rule(written(tmp_path, text), group="own")
    assert (rule.rests_on, rule.violation_rests_on) == (("trail_complete",), ("processors_free",))


def test_the_hash_changes_with_the_file(tmp_path: Path) -> None:
    first = read_rule(written(tmp_path), group="own").sql_hash
    second = read_rule(
        written(tmp_path, GOOD.replace("SELECT id", "SELECT DISTINCT id")), group="own"
    ).sql_hash
    assert first != second


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("-- name: {name}", "-- name: other", 1, "the name other differs from the file's, no_hold_floats"),
        ("-- name: {name}", "-- name: No Hold", 1, "the name 'No Hold' is not lower_snake_case"),
        ("exists.", "exists", 2, "the sentence does not end with a full stop"),
        (
            "needs: trail, holds.resource",
            "needs: trail, holds.colour",
            4,
            "needs 'holds.colour', which is no evidence",
        ),
        (
            "rests on: trail_complete",
            "rests on: luck",
            5,
            "rests on 'luck', which is no assumption of evidence",
        ),
        ("-- catches: never-released\n", "", 6, "the header lacks `-- catches: …`"),
        ("-- catches:", "-- smells:", 6, "`smells` is no header"),
        ("-- catches:", "-- name: again\n-- catches:", 6, "`name` is given twice"),
        ("-- catches: never-released", "catches nothing", 6, "expected `-- field: value` in the header"),
        ("-- looked at\n", "", 8, "expected `-- looked at`, found 'SELECT count(*) FROM state.holds;'"),
        ("SELECT count(*) FROM state.holds;\n", "", 12, "there is no statement under `-- looked at`"),
        ("SELECT id FROM state.holds;\n", "", 12, "there is no statement under `-- counter-examples`"),
        (
            "-- looked at\nSELECT count(*) FROM state.holds;\n\n",
            "",
            8,
            "`-- counter-examples` is out of order",
        ),
        ("SELECT count(*)", "SELEC count(*)", 8, "no SQL: Parser Error: syntax error at or near"),
        ("SELECT id FROM", "SELECT id; DROP VIEW operations; SELECT id FROM", 11, "not one query"),
        ("SELECT count(*) FROM state.holds", "COPY operations TO 'elsewhere.csv'", 8, "not one query"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, said: str
) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(InvariantError, match=re.escape(f"{path}:{line}: {said}")):
        read_rule(path, group="own")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.sql"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvariantError, match="cannot be read"):
        read_rule(path, group="own")


PYTHON = """\
# name: no_hold_floats
# sentence: Every hold belongs to a resource
#   that exists.
# needs: operations
# rests on: nothing
# catches: never-released
{body}
"""


def in_python(folder: Path, body: str) -> Path:
    path = folder / "no_hold_floats.py"
    path.write_text(PYTHON.format(body=body))
    return path


def test_a_python_module_under_the_same_header_is_a_rule(tmp_path: Path) -> None:
    path = in_python(tmp_path, "def judge(evidence):\n    return 7, [{'op': 1}]")
    rule = load([tmp_path])["no_hold_floats"]
    assert (rule.path, rule.sentence) == (str(path), "Every hold belongs to a resource that exists.")


@pytest.mark.parametrize("body", ["looked_at = 1", "import no_such_module", "def judge("])
def test_a_module_that_cannot_judge_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(InvariantError, match=r"no_hold_floats\.py: it gives no function `judge`"):
        read_rule(in_python(tmp_path, body), group="own")


def test_what_is_wrong_with_a_modules_header_is_said_with_its_line(tmp_path: Path) -> None:
    path = in_python(tmp_path, "def judge(evidence): ...")
    path.write_text(path.read_text().replace("# needs: operations", "# needs: tea"))
    with pytest.raises(InvariantError, match=r"no_hold_floats\.py:4: needs 'tea', which is no evidence"):
        read_rule(path, group="own")


def test_other_folders_add_to_the_built_in_ones(tmp_path: Path) -> None:
    written(tmp_path)
    assert load([tmp_path]).keys() == load().keys() | {"no_hold_floats"}


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    written(tmp_path, name="never_oversold")
    with pytest.raises(InvariantError, match="the name never_oversold is taken by"):
        load([tmp_path])


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvariantError, match="no such folder of invariants"):
        load([tmp_path / "nowhere"])


def test_a_group_is_the_folder_of_its_files() -> None:
    assert "never_oversold" in group("reservation")
    assert group("nothing_like_it") == ()


def test_the_example_of_the_documentation_is_an_invariant(tmp_path: Path) -> None:
    (example,) = re.findall(
        r"```sql\n(.*?)```", (ROOT / "docs/how-to/add-an-invariant.md").read_text(), re.DOTALL
    )
    (name,) = re.findall(r"-- name: (\w+)", example)
    assert read_rule(written(tmp_path, example, name), group="own").name == name


def test_what_a_target_cannot_be_held_to_is_known_before_a_run() -> None:
    holds = CanonicalTable(table="bookings", key=("id",), columns={"resource": "show_id", "state": "state"})
    brief = Brief(
        run="r",
        scenario="s",
        story="",
        profile="smoke",
        seed=1,
        target="shop",
        command="",
        invariants=(),
        assumptions=(),
        tables={"holds": holds},
    )
    rules = load()
    assert not_offered(rules["never_oversold"], brief) == "not offered: the target has no resources"
    assert not_offered(rules["one_effect_per_key"], brief) is None
