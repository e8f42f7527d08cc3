"""DuckDB as evidence is judged in: how much memory it may take, and that it reads the run folder and nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import duckdb

from checker.quoting import literal

if TYPE_CHECKING:
    from pathlib import Path

THREADS: Final = 2
MEMORY_BYTES_MAX: Final = 3_600_000_000
"""What ten million operations are judged in without spilling much; never more than half of what there is."""
KEPT_SHARE: Final = 0.9
"""How much of it DuckDB uses again and again by itself: to give memory back and ask for it anew is a tenth of the time."""
SPILL_LIMIT: Final = "8GB"
_UNITS: Final = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def connect(spill: str) -> duckdb.DuckDBPyConnection:
    """Open an empty database in memory; what is too large for it goes into the folder `spill`."""
    connection = duckdb.connect(
        ":memory:",
        config={
            "threads": THREADS,
            "temp_directory": spill,
            "max_temp_directory_size": SPILL_LIMIT,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
        },
    )
    memory = memory_bytes(connection)
    connection.execute(f"SET memory_limit = '{memory}B'")
    # It only saves time, and is refused where so much cannot be set aside.
    with suppress(duckdb.Error):
        connection.execute(f"SET block_allocator_memory = '{round(KEPT_SHARE * memory)}B'")
    return connection


def memory_bytes(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how much may be taken; DuckDB's own limit is four fifths of what it sees, a container's bound included."""
    (said,) = connection.execute("SELECT current_setting('memory_limit')").fetchone() or ("0 bytes",)
    number, _, unit = str(said).partition(" ")
    return min(MEMORY_BYTES_MAX, round(float(number) * _UNITS[unit] * 5 / 8))


def restrict(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Let queries read the run folder and nothing else: a folder may have come with an email."""
    connection.execute(f"SET allowed_directories = [{literal(str(folder) + '/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
