"""From recorded frames to changes/: every change once, in commit order, with nothing missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker.schemas import CHANGE_HEAD
from checker.trail import DecodeError, TrailStatus
from checker.trail.snapshot import Snapshot
from tests.unit.checker.recorded import SEATS, decoded, write_base

if TYPE_CHECKING:
    from pathlib import Path

    from checker.trail.spool import Frame


def changes(folder: Path, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "changes" / f"{table}.parquet").to_pylist()
    return rows


def own(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    return [(row["action"], *(row[f"new_{column}"] for column in columns)) for row in rows]


def test_a_table_becomes_one_file_with_the_head_first(tmp_path: Path, recorded: list[Frame]) -> None:
    decoded(tmp_path, recorded)
    schema = pq.read_schema(tmp_path / "changes" / "seats.parquet")
    assert schema.names == [*CHANGE_HEAD.names, "old_digest", *(f"new_{column}" for column in SEATS)]
    assert [schema.field(name).type for name in CHANGE_HEAD.names] == CHANGE_HEAD.types
    assert {schema.field(f"new_{column}").type for column in SEATS} == {pa.string()}
    (row,) = changes(tmp_path, "seats")
    assert (row["commit_lsn"], row["change_lsn"], row["xid"]) == (0x0BD0B470, 198226640, 20876)
    assert row["commit_us"] == 0x0003046F5303ABE6 + 946_684_800_000_000


def test_joined_parts_have_the_same_schema_as_a_single_one(tmp_path: Path, recorded: list[Frame]) -> None:
    decoded(tmp_path, recorded)
    schema = pq.read_schema(tmp_path / "changes" / "notes.parquet")
    assert schema.names == [*CHANGE_HEAD.names, "old_digest", "new_id", "new_v", "new_w", "new_extra"]
    assert [schema.field(name).type for name in CHANGE_HEAD.names] == CHANGE_HEAD.types
    assert not list((tmp_path / "changes").glob("*.part*"))


def test_an_untouched_toasted_value_is_filled_from_the_row_before(
    tmp_path: Path, recorded: list[Frame]
) -> None:
    decoded(tmp_path, recorded)
    assert own(changes(tmp_path, "notes"), "id", "v", "w", "extra") == [
        ("I", "1", "x" * 2100, "a", None),
        ("U", "1", "x" * 2100, "b", None),
        ("D", "1", None, None, None),
        ("I", "2", None, "b", None),
        ("D", "2", None, None, None),
        ("T", None, None, None, None),
        ("I", "5", None, "", "6"),
        ("I", "9", None, None, None),
    ]


def test_under_identity_full_it_is_filled_from_the_old_row(tmp_path: Path, recorded: list[Frame]) -> None:
    decoded(tmp_path, recorded)
    assert own(changes(tmp_path, "whole"), "id", "v", "w") == [
        ("I", "1", "y" * 2100, "a"),
        ("U", "1", "y" * 2100, "b"),
        ("D", "1", None, None),
        ("T", None, None, None),
    ]


def test_an_untouched_value_of_a_row_that_stood_there_is_filled_from_base(
    tmp_path: Path, recorded: list[Frame]
) -> None:
    insert = next(
        n for n, frame in enumerate(recorded) if frame.data[:1] == b"I" and b"x" * 2100 in frame.data
    )
    write_base(tmp_path, "notes", ("id", "v", "w"), ("1", "as it stood", "a"))
    decoded(tmp_path, [*recorded[:insert], *recorded[insert + 1 :]])
    assert own(changes(tmp_path, "notes"), "id", "v", "w")[0] == ("U", "1", "as it stood", "b")


def test_position_counts_all_changes_of_a_transaction(tmp_path: Path, recorded: list[Frame]) -> None:
    decoded(tmp_path, recorded)
    moved = [row["position"] for row in changes(tmp_path, "notes") if row["xid"] == 20881]
    assert moved == [0, 1]
    emptied = [changes(tmp_path, table)[-1 if table == "whole" else 5] for table in ("notes", "whole")]
    assert [(row["action"], row["position"]) for row in emptied] == [("T", 0), ("T", 1)]


def test_a_table_without_changes_has_an_empty_file(tmp_path: Path) -> None:
    record = decoded(tmp_path, [])
    assert record.changes == {"seats": 0, "notes": 0, "whole": 0}
    assert pq.read_table(tmp_path / "changes" / "whole.parquet").num_rows == 0


def test_what_the_slot_repeats_is_counted_once(tmp_path: Path, recorded: list[Frame]) -> None:
    (tmp_path / "once").mkdir()
    once = decoded(tmp_path / "once", recorded)
    (tmp_path / "again").mkdir()
    # The server died twice: in the middle of a transaction, then after all of it; each time the slot began anew.
    again = decoded(tmp_path / "again", [*recorded[:8], *recorded, *recorded[5:]])
    assert (again.changes, again.transactions) == (once.changes, once.transactions)
    assert again.repeated > 10
    for table in ("seats", "notes", "whole"):
        assert changes(tmp_path / "again", table) == changes(tmp_path / "once", table)


def test_a_transaction_that_the_base_contains_is_left_out(tmp_path: Path, recorded: list[Frame]) -> None:
    record = decoded(tmp_path, recorded, base_snapshot="20876:20880:20876,20879")
    # 20877 and 20878 were over when the base was read; 20876 and 20879 still ran, later ones had not begun.
    assert record.in_base == 2
    assert changes(tmp_path, "seats")
    assert own(changes(tmp_path, "whole"), "id")[0] == ("U", "1")


def test_a_snapshot_tells_transactions_apart_across_the_wrap_of_their_ids() -> None:
    snapshot = Snapshot.parse("8589934590:8589934600:8589934598")
    assert snapshot.sees(8589934599 % 2**32)
    assert not snapshot.sees(8589934600 % 2**32)
    assert not snapshot.sees(8589934598 % 2**32)
    assert snapshot.sees(2**32 - 5)


def test_a_renamed_table_is_still_the_same_table(tmp_path: Path, recorded: list[Frame]) -> None:
    frames = list(recorded)
    last = max(n for n, f in enumerate(frames) if f.data[:1] == b"R" and b"\x00notes\x00" in f.data)
    frames[last] = frames[last]._replace(data=frames[last].data.replace(b"\x00notes\x00", b"\x00memos\x00"))
    assert decoded(tmp_path, frames).changes["notes"] == 8


def test_damage_is_an_error_that_names_the_frame(tmp_path: Path, recorded: list[Frame]) -> None:
    broken = [*recorded[:3], recorded[3]._replace(data=recorded[3].data[:-1])]
    with pytest.raises(DecodeError, match=r"frame 3 of the spool: cut short: .* at byte"):
        decoded(tmp_path, broken)


def test_a_value_in_binary_is_refused_and_not_taken_for_text(tmp_path: Path, recorded: list[Frame]) -> None:
    insert = recorded[3].data
    assert (insert[:1], insert[8:9]) == (b"I", b"t")
    binary = recorded[3]._replace(data=insert[:8] + b"b" + insert[9:])
    with pytest.raises(DecodeError, match="a binary value in seats, where text was asked for"):
        decoded(tmp_path, [*recorded[:3], binary])


def test_a_change_of_a_table_never_described_is_an_error(tmp_path: Path, recorded: list[Frame]) -> None:
    with pytest.raises(DecodeError, match="relation 16604, which was never described"):
        decoded(tmp_path, [recorded[0], recorded[3]])


def test_a_drained_trail_whose_spool_lost_its_tail_is_broken(tmp_path: Path, recorded: list[Frame]) -> None:
    assert decoded(tmp_path, recorded).status is TrailStatus.DRAINED
    record = decoded(tmp_path, recorded, lost=2)
    assert record.status is TrailStatus.BROKEN
    assert f"holds {len(recorded)} of the {len(recorded) + 2} frames" in str(record.reason)
