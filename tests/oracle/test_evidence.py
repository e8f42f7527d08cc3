"""How a run folder becomes tables, and what is said of one that is not as described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker.brief import CanonicalTable, read_brief
from checker.evidence import Evidence, EvidenceError, open_evidence

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.oracle.by_hand.run import Run


def opened(run: Run) -> AbstractContextManager[Evidence]:
    folder = run.write()
    return open_evidence(folder, read_brief(folder))


def asked(run: Run, sql: str) -> list[tuple[Any, ...]]:
    with opened(run) as evidence:
        return evidence.rows(sql)


def remap(run: Run, table: str, **changes: Any) -> None:
    run.tables[table] = msgspec.structs.replace(run.tables[table], **changes)


def sale(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.held("h1", "r", state="CANCELLED"), run.counted("r", 0))


def test_the_trail_holds_what_stood_before_and_every_change(run: Run) -> None:
    sale(run)
    rows = asked(
        run, "SELECT commit_lsn, action, id, occupied, present FROM trail.resources ORDER BY commit_lsn"
    )
    assert rows == [(0, "B", "r", 0, True), (1_002_000, "U", "r", 1, True), (1_004_000, "U", "r", 0, True)]


def test_of_several_changes_in_one_transaction_the_last_is_what_was_committed(run: Run) -> None:
    run.resource("r", capacity=1)
    run.commit(2, run.held("h1", "r"), run.told_of(run.held("h1", "r", state="CANCELLED"), quantity="2"))
    rows = asked(run, "SELECT commit_lsn, action, state, quantity FROM commits.holds")
    assert rows == [(1_002_000, "I", "CANCELLED", 2)]


def test_a_deleted_row_has_no_values_but_is_still_known_by_its_key(run: Run) -> None:
    sale(run)
    run.commit(5, run.removed("h1"))
    rows = asked(run, "SELECT row_key, present, id, state FROM commits.holds WHERE action = 'D'")
    assert rows == [("h1", False, None, None)]


def test_a_truncation_ends_the_rows_before_it_and_not_those_after(run: Run) -> None:
    sale(run)
    run.commit(5, run.removed("", "T"), run.held("h2", "r"))
    rows = asked(
        run, "SELECT row_key, present FROM commits.holds WHERE commit_lsn = 1005000 ORDER BY row_key"
    )
    assert rows == [("h1", False), ("h2", True)]


def test_only_the_rows_that_are_meant_are_seen(run: Run) -> None:
    remap(run, "holds", where="state = 'ACTIVE'")
    sale(run)
    assert asked(run, "SELECT commit_lsn, present FROM commits.holds ORDER BY commit_lsn") == [
        (1_002_000, True),
        (1_004_000, False),
    ]
    assert asked(run, "SELECT * FROM state.holds") == []


def test_times_as_postgresql_prints_them_become_microseconds(run: Run) -> None:
    remap(run, "holds", columns={"id": "id", "created_us": "instant_us('2026-01-01 00:00:00.5+00')"})
    sale(run)
    assert asked(run, "SELECT created_us FROM state.holds") == [(1_767_225_600_500_000,)]


def test_a_canonical_table_that_the_target_lacks_is_there_and_empty(run: Run) -> None:
    assert asked(run, "SELECT count(*) FROM trail.offers, state.waitlist_entries, commits.reservations") == [
        (0,)
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"columns": {"colour": "id"}}, "tables.holds.columns.colour: no such canonical column"),
        ({"columns": {"id": "number"}}, "tables.holds.columns.id over base/: Binder Error"),
        ({"columns": {"id": "id)"}}, "tables.holds.columns.id over base/: Parser Error"),
        (
            {"columns": {"expires_us": "instant_us(number)"}},
            "tables.holds.columns.expires_us over base/: Binder",
        ),
        ({"columns": {"id": "order"}}, "tables.holds.columns.id over base/: Parser Error"),
        ({"where": "nonsense"}, "tables.holds.where over base/: Binder Error"),
        ({"key": ("number",)}, "tables.holds.key: base/holds.parquet has no column 'number'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_named(run: Run, changes: dict[str, Any], said: str) -> None:
    sale(run)
    remap(run, "holds", **changes)
    with pytest.raises(EvidenceError) as caught, opened(run):
        pass
    assert str(caught.value).startswith(said)


def test_a_value_that_does_not_convert_is_named_to_whoever_reads_it(run: Run) -> None:
    sale(run)
    remap(run, "holds", columns={"id": "id", "quantity": "state"})
    with pytest.raises(
        EvidenceError, match=r"tables\.holds\.columns\.quantity over changes/: Conversion Error"
    ):
        asked(run, "SELECT count(*) FROM made")
    with pytest.raises(
        EvidenceError, match=r"tables\.holds\.columns\.quantity over changes/: Conversion Error"
    ):
        run.verdict()


def test_a_table_that_is_not_canonical_is_named(run: Run) -> None:
    run.tables["bookings"] = CanonicalTable(table="holds", key=("id",), columns={})
    with pytest.raises(EvidenceError, match=r"tables\.bookings: no such canonical table"), opened(run):
        pass


@pytest.fixture
def written(run: Run) -> Path:
    sale(run)
    return run.write()


def test_a_file_that_is_no_parquet_is_named(written: Path) -> None:
    (written / "operations.parquet").write_bytes(b"nothing of the kind")
    with (
        pytest.raises(EvidenceError, match=r"operations\.parquet cannot be read"),
        open_evidence(written, read_brief(written)),
    ):
        pass


def test_a_file_that_lacks_a_column_is_named(written: Path) -> None:
    table = pq.read_table(written / "operations.parquet").drop_columns(["sent_ns"])
    pq.write_table(table, written / "operations.parquet")
    with (
        pytest.raises(EvidenceError, match="has no column 'sent_ns'"),
        open_evidence(written, read_brief(written)),
    ):
        pass


def test_a_column_of_another_type_is_named(written: Path) -> None:
    table = pq.read_table(written / "operations.parquet")
    place = table.schema.get_field_index("sent_ns")
    pq.write_table(
        table.set_column(place, "sent_ns", table["sent_ns"].cast(pa.float64())),
        written / "operations.parquet",
    )
    with (
        pytest.raises(EvidenceError, match="'sent_ns' is double, not int64"),
        open_evidence(written, read_brief(written)),
    ):
        pass


def test_a_mapping_cannot_read_what_is_not_in_the_folder(run: Run) -> None:
    sale(run)
    remap(run, "holds", columns={"id": "(SELECT content FROM read_text('/etc/hostname'))"})
    with pytest.raises(EvidenceError, match="file system operations are disabled"), opened(run):
        pass
