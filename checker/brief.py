"""What the checker is told about a run: scenario.json, written before the load starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = 1

Kind = Literal["vacuity", "evidence"]


class Assumption(msgspec.Struct, frozen=True, kw_only=True):
    """Something that must have occurred (vacuity) or must hold (evidence) before a judgement counts.

    `name` is that of a registered assumption; `parameters` are its limits, units last (`at_least`, `ms_max`).
    A missed vacuity assumption turns valid into unknown; a missed evidence assumption makes every invariant
    that rests on it unknown, whatever it found.
    """

    name: str
    kind: Kind
    parameters: dict[str, int | float | str] = {}


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A limit on a measured figure, e.g. the p99 of `hold` in seconds; see checker.thresholds."""

    name: str
    operation: str
    parameters: dict[str, int | float | str] = {}


class CanonicalTable(msgspec.Struct, frozen=True, kw_only=True):
    """How one canonical evidence table is seen through a target's own table.

    `table` is the target's table, `key` its key columns, `columns` maps canonical column to a DuckDB SQL
    expression over the target's own columns (all of them VARCHAR or NULL, as PostgreSQL prints them);
    `instant_us(column)` turns a printed timestamp into µs since the epoch. `where` keeps the rows that are meant,
    so that one table of a target can be seen as several canonical ones. Canonical names: checker.canonical.
    """

    table: str
    key: tuple[str, ...]
    columns: dict[str, str]
    where: str = "true"


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the verdict is computed from besides the evidence itself; times are CLOCK_MONOTONIC ns.

    `refusals` maps a meaning the invariants know to the target's own codes for it, e.g. `{"sold_out": ("SOLD_OUT",)}`:
    fewer seats are free than were asked for (`sold_out`), the time of a hold or an offer is over (`expired`), the key belongs
    to another command (`key_conflict`), too much is asked at once (`shed`); and of any, that it is stored under its key
    (`final`) or never is (`transient`).
    `shards` is how many load processes must have left a part of the history. Thresholds are reported, and with
    `judges_thresholds` (the full profile, or asked for) one that is not kept makes the run invalid.
    """

    run: str
    scenario: str
    story: str
    profile: str
    seed: int
    target: str
    command: str
    invariants: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    thresholds: tuple[Threshold, ...] = ()
    judges_thresholds: bool = False
    tables: dict[str, CanonicalTable] = {}
    refusals: dict[str, tuple[str, ...]] = {}
    shards: int = 1
    mutant: str | None = None
    t0_ns: int = 0
    links: dict[str, str] = {}
    parts: dict[str, str] = {}
    schema_version: int = SCHEMA_VERSION


def write_brief(folder: Path, brief: Brief) -> None:
    """Write scenario.json into the run folder."""
    (folder / "scenario.json").write_bytes(msgspec.json.format(msgspec.json.encode(brief), indent=2))


def read_brief(folder: Path) -> Brief:
    """Read scenario.json; raises msgspec.ValidationError on another shape and FileNotFoundError without one."""
    return msgspec.json.decode((folder / "scenario.json").read_bytes(), type=Brief)
