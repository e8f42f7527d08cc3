"""Bring a database's schema to the newest version: `python -m service.migrate --database-url DSN`.

Versions are the .sql files of `service/migrations`, applied in order, each in one transaction, under one advisory
lock, so that several nodes may start at once. Applying again changes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import sys
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

import asyncpg

_ADVISORY_LOCK: Final = 7_203_419_857  # any number that every node agrees on
_LOCK_SECONDS_MAX: Final = 30

_VERSIONS: Final = """
CREATE TABLE IF NOT EXISTS schema_versions (
    version text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
)"""


class MigrationError(RuntimeError):
    """The database was migrated by other files than these."""


@dataclass(frozen=True, slots=True)
class Version:
    """One migration file: its name without the ending, its text and the digest that proves it unchanged."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def versions() -> list[Version]:
    """Return all versions in the order in which they are applied."""
    files = [file for file in resources.files("service.migrations").iterdir() if file.name.endswith(".sql")]
    return [
        Version(name=file.name.removesuffix(".sql"), text=file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda file: file.name)
    ]


async def migrate(database_url: str) -> list[str]:
    """Apply what is missing and return its names; raises MigrationError where an applied file has changed."""
    connection = await asyncpg.connect(
        database_url,
        timeout=10,
        server_settings={
            "application_name": "reservation-migrate",
            "lock_timeout": f"{_LOCK_SECONDS_MAX}s",
            "idle_in_transaction_session_timeout": f"{_LOCK_SECONDS_MAX}s",
        },
    )
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", _ADVISORY_LOCK)
        return await _apply(connection)
    finally:
        await connection.close(timeout=5)  # the session lock ends with the session


async def _apply(connection: Any) -> list[str]:
    await connection.execute(_VERSIONS)
    rows = await connection.fetch("SELECT version, digest FROM schema_versions")
    applied = {row["version"]: row["digest"] for row in rows}
    fresh = []
    for version in versions():
        if version.name not in applied:
            async with connection.transaction():
                await connection.execute(version.text)
                await connection.execute(
                    "INSERT INTO schema_versions (version, digest) VALUES ($1, $2)",
                    version.name,
                    version.digest,
                )
            fresh.append(version.name)
        elif applied[version.name] != version.digest:
            raise MigrationError(f"{version.name} was applied with another text than this service carries")
    return fresh


def main() -> int:
    """Migrate and print what was applied."""
    parser = argparse.ArgumentParser(prog="python -m service.migrate", description=__doc__)
    parser.add_argument("--database-url", default=os.environ.get("RESERVATION_DATABASE_URL"))
    arguments = parser.parse_args()
    if not arguments.database_url:
        parser.error("--database-url or RESERVATION_DATABASE_URL is needed")
    try:
        fresh = asyncio.run(migrate(arguments.database_url))
    except (MigrationError, OSError, asyncpg.PostgresError, TimeoutError) as error:
        sys.stderr.write(f"service.migrate: {error or type(error).__name__}\n")
        return 1
    sys.stdout.write("".join(f"applied {name}\n" for name in fresh) or "already at the newest version\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
