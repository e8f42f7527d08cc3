"""How much memory judging may take, where there is little of it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from checker import engine

if TYPE_CHECKING:
    from pathlib import Path


def _setting(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    (value,) = connection.execute(f"SELECT current_setting('{name}')").fetchone() or ("",)
    return str(value)


@pytest.mark.parametrize(
    ("seen", "taken"),
    [("1.6GB", 1_000_000_000), ("800MB", 500_000_000), ("16GB", engine.MEMORY_BYTES_MAX)],
)
def test_half_of_what_duckdb_sees_is_taken_and_no_more_than_the_most(seen: str, taken: int) -> None:
    with duckdb.connect(":memory:", config={"memory_limit": seen}) as connection:
        assert engine.memory_bytes(connection) == pytest.approx(taken, rel=0.07)


def test_where_nothing_can_be_set_aside_evidence_is_judged_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: in a container DuckDB refused to begin."""
    monkeypatch.setattr(engine, "KEPT_SHARE", 1e6)
    with engine.connect(str(tmp_path)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert _setting(connection, "block_allocator_memory") == "0 bytes"


def test_what_is_used_again_is_within_the_limit(tmp_path: Path) -> None:
    with engine.connect(str(tmp_path)) as connection:
        assert _setting(connection, "block_allocator_memory") not in ("", "0 bytes")
