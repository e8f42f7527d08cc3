"""The changes that are there are those that the trail gave: not one more, not one less, each in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from checker.assumptions import trail_complete
from checker.brief import read_brief
from checker.errors import EvidenceError, NoRoomError, refused
from checker.evidence import open_evidence
from checker.judge import check
from checker.state import READ_KEY

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from checker.evidence import Evidence
    from checker.verdict import Premise
    from tests.oracle.by_hand.run import Run


@pytest.fixture
def folder(run: Run) -> Path:
    run.assume(trail_complete())
    run.resource("r", capacity=2)
    run.sold("h1", "r", sent=10, commit=12, done=13, count=1)
    run.sold("h2", "r", sent=20, commit=22, done=23, count=2)
    return run.write()


def _premise(folder: Path) -> Premise:
    (found,) = (premise for premise in check(folder).premises if premise.name == "trail_complete")
    return found


def _unplaced(table: pa.Table) -> pa.Table:
    column = table.column("commit_lsn")
    nothing = pa.nulls(len(column), column.type)
    return table.set_column(table.schema.get_field_index("commit_lsn"), "commit_lsn", nothing)


def test_as_it_was_recorded_it_is_complete(folder: Path) -> None:
    assert _premise(folder).holds


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda table: pa.concat_tables([table, table]), "4 changes of holds are there, and 2 were recorded"),
        (lambda table: table.slice(1), "1 changes of holds are there, and 2 were recorded"),
        (
            lambda table: table.filter(pc.equal(table["action"], "D")),
            "0 changes of holds are there, and 2 were",
        ),
        (_unplaced, "2 changes of holds have no place in the order of commits"),
    ],
)
def test_changes_that_were_not_recorded_so_make_the_trail_incomplete(
    folder: Path, damage: Callable[[pa.Table], pa.Table], said: str
) -> None:
    path = folder / "changes" / "holds.parquet"
    pq.write_table(damage(pq.read_table(path)), path)
    premise = _premise(folder)
    assert not premise.holds
    assert said in premise.measured


def test_a_file_of_a_table_that_was_not_watched_makes_the_trail_incomplete(folder: Path) -> None:
    holds = pq.read_table(folder / "changes" / "holds.parquet")
    pq.write_table(holds, folder / "changes" / "zz.parquet")
    assert "2 changes of zz are there, and 0 were recorded" in _premise(folder).measured


def test_what_is_no_file_is_not_read(folder: Path) -> None:
    """A pipe that nobody writes to would be waited for without an end."""
    os.mkfifo(folder / "changes" / "zz.parquet")
    assert _premise(folder).holds


def test_a_time_of_reading_that_is_no_number_is_told(folder: Path) -> None:
    path = folder / "state" / "holds.parquet"
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, READ_KEY: b"noon"}), path)
    with (
        pytest.raises(EvidenceError, match=r"when it was read is no number(?s:.*)noon"),
        _opened(folder) as evidence,
    ):
        evidence.rows("FROM at_rest")


def _opened(folder: Path) -> AbstractContextManager[Evidence]:
    return open_evidence(folder, read_brief(folder))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (duckdb.OutOfMemoryException("could not allocate block"), NoRoomError),
        (duckdb.IOException("Could not write file: No space left on device"), NoRoomError),
        (
            duckdb.IOException(
                "failed to offload: this limit was set by the 'max_temp_directory_size' setting"
            ),
            NoRoomError,
        ),
        (duckdb.IOException("No magic bytes found at end of file"), EvidenceError),
    ],
)
def test_too_little_room_is_not_said_to_be_the_evidence(
    error: duckdb.Error, kind: type[EvidenceError]
) -> None:
    assert type(refused("run", error)) is kind
