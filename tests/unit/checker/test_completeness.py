"""A trail is whole where its changes follow from one another and fold to the state at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from checker.trail.completeness import Difference, broken_links, differences
from checker.trail.messages import Delete, Insert, Relation, Update
from checker.trail.pgoutput import parse
from tests.unit.checker.recorded import TABLES, decoded, write_base, write_state

if TYPE_CHECKING:
    from pathlib import Path

    from checker.tables import Table
    from checker.trail.spool import Frame

NOTES = ("id", "v", "w", "extra")
AT_REST = (("5", None, "", "6"), ("9", None, None, None))


@pytest.fixture
def at_rest(tmp_path: Path) -> Path:
    for table in TABLES:
        write_base(tmp_path, table.name, table.columns)
    write_state(tmp_path, "notes", NOTES, *AT_REST)
    write_state(tmp_path, "whole", ("id", "v", "w"))
    return tmp_path


def compared(folder: Path, table: str) -> list[Difference]:
    with duckdb.connect() as connection:
        return differences(connection, folder, table, ("id",))


def test_a_whole_trail_folds_to_the_state(at_rest: Path, recorded: list[Frame]) -> None:
    decoded(at_rest, recorded)
    assert compared(at_rest, "notes") == []
    assert compared(at_rest, "whole") == []


def test_a_dropped_frame_is_found(at_rest: Path, recorded: list[Frame]) -> None:
    delete = max(n for n, frame in enumerate(recorded) if frame.data[:1] == b"I")
    decoded(at_rest, [*recorded[:delete], *recorded[delete + 1 :]])
    assert compared(at_rest, "notes") == [Difference(table="notes", key=("9",), how="only in the state")]


def links(folder: Path, table: Table) -> list[Difference]:
    with duckdb.connect() as connection:
        return broken_links(connection, folder, table.name, table.key, table.columns)


def test_each_change_of_a_whole_trail_follows_from_the_one_before(
    at_rest: Path, recorded: list[Frame]
) -> None:
    decoded(at_rest, recorded)
    assert [links(at_rest, table) for table in TABLES] == [[], [], []]


def test_a_lost_change_is_missed_though_another_undid_it(at_rest: Path, recorded: list[Frame]) -> None:
    """`whole` tells its rows as they were; all of them are gone at rest, so that the fold alone says nothing."""
    made, updated, _ = of_whole(recorded)
    for lost in (made, updated):
        decoded(at_rest, [*recorded[:lost], *recorded[lost + 1 :]])
        assert compared(at_rest, "whole") == []
        assert links(at_rest, TABLES[2]) == [
            Difference(table="whole", key=("1",), how="a change before it is missing")
        ]


def test_a_row_made_twice_lacks_its_end(at_rest: Path, recorded: list[Frame]) -> None:
    made, _, deleted = of_whole(recorded)
    frames = list(recorded)
    frames[deleted] = frames[deleted]._replace(data=frames[made].data)
    decoded(at_rest, frames)
    assert [link.table for link in links(at_rest, TABLES[2])] == ["whole"]


def test_a_change_undone_within_its_commit_is_missed(at_rest: Path, recorded: list[Frame]) -> None:
    """Of an update, its undoing and the same update again, the middle one is lost: first and last say the same."""
    _, updated, _ = of_whole(recorded)
    again = recorded[updated]._replace(lsn=recorded[updated].lsn + 64)
    decoded(at_rest, [*recorded[: updated + 1], again, *recorded[updated + 1 :]])
    assert [link.table for link in links(at_rest, TABLES[2])] == ["whole"]


def of_whole(recorded: list[Frame]) -> tuple[int, int, int]:
    """Where the only row of `whole` is made, updated and deleted."""
    relations = [message for frame in recorded if isinstance(message := parse(frame.data), Relation)]
    oid = next(relation.oid for relation in relations if relation.name == "whole")
    changes = [(n, parse(frame.data)) for n, frame in enumerate(recorded)]
    made, updated, deleted = (
        n
        for n, message in changes
        if isinstance(message, Insert | Update | Delete) and message.relation == oid
    )
    return made, updated, deleted


def test_a_dropped_truncation_is_found(at_rest: Path, recorded: list[Frame]) -> None:
    lost = [f for f in recorded if f.data[:1] not in (b"T", b"D")]
    decoded(at_rest, lost)
    assert compared(at_rest, "whole") == [Difference(table="whole", key=("1",), how="only in the trail")]


def test_a_frame_spooled_twice_is_harmless(at_rest: Path, recorded: list[Frame]) -> None:
    changing = [n for n, frame in enumerate(recorded) if frame.data[:1] in (b"I", b"U", b"D", b"T", b"C")]
    for doubled in changing:
        decoded(at_rest, [*recorded[: doubled + 1], *recorded[doubled:]])
        assert compared(at_rest, "notes") == compared(at_rest, "whole") == []
        assert [links(at_rest, table) for table in TABLES] == [[], [], []]


def test_a_row_that_differs_is_told_with_its_columns(at_rest: Path, recorded: list[Frame]) -> None:
    write_state(at_rest, "notes", NOTES, ("5", "", "", "7"), AT_REST[1])
    decoded(at_rest, recorded)
    assert compared(at_rest, "notes") == [Difference(table="notes", key=("5",), how="v, extra")]


def test_a_row_twice_in_the_state_is_no_match_for_one(at_rest: Path, recorded: list[Frame]) -> None:
    write_state(at_rest, "notes", NOTES, *AT_REST, ("5", None, "", "8"))
    decoded(at_rest, recorded)
    assert compared(at_rest, "notes") == [Difference(table="notes", key=("5",), how="extra")]


def test_what_the_state_could_not_see_is_left_out(at_rest: Path, recorded: list[Frame]) -> None:
    write_state(at_rest, "notes", NOTES, AT_REST[0], snapshot="20889:20889:")
    decoded(at_rest, recorded)
    assert compared(at_rest, "notes") == []


def test_what_the_state_did_see_is_not_left_out(at_rest: Path, recorded: list[Frame]) -> None:
    write_state(at_rest, "notes", NOTES, AT_REST[0], snapshot="20890:20890:")
    decoded(at_rest, recorded)
    assert compared(at_rest, "notes") == [Difference(table="notes", key=("9",), how="only in the trail")]


def test_a_lost_file_is_named(at_rest: Path, recorded: list[Frame]) -> None:
    decoded(at_rest, recorded)
    (at_rest / "base" / "notes.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"base/notes\.parquet is not in the run folder"):
        compared(at_rest, "notes")
