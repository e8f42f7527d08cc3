"""A run folder made up of races, every part of it but the verdict."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from checker import schemas
from checker.brief import Brief, CanonicalTable, write_brief
from tests.unit.reports.made_up.race import EPOCH_OFFSET_NS, RACE_NS, T0_NS, Recipe, outage, run_race

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES_EVERY_NS = 100_000_000
RESOURCES = CanonicalTable(
    table="resources", key=("id",), columns={"id": "id", "capacity": "capacity", "state": "state"}
)
HOLDS = CanonicalTable(
    table="holds",
    key=("id",),
    columns={"id": "id", "resource": "resource_id", "state": "state", "quantity": "quantity"},
)


def build(folder: Path, recipe: Recipe) -> Path:
    """Write every part of a run but the verdict."""
    chance = random.Random(recipe.seed)
    for race in range(recipe.races):
        run_race(recipe, race, chance)
    end_ns = T0_NS + recipe.races * RACE_NS
    for part in ("changes", "base"):
        (folder / part).mkdir(exist_ok=True)
    for name, schema, rows in (
        ("operations", schemas.OPERATIONS, recipe.rows),
        ("base/resources", _changes_of(RESOURCES), [_resource(race) for race in range(recipe.races)]),
        ("changes/resources", _changes_of(RESOURCES), []),
        ("changes/holds", _changes_of(HOLDS), recipe.changes),
        ("clocks", schemas.CLOCKS, _clocks(end_ns)),
        ("faults", schemas.FAULTS, [outage(end_ns)] if recipe.fault else []),
        ("samples", schemas.SAMPLES, _samples(end_ns, chance)),
    ):
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / f"{name}.parquet")
    write_brief(folder, brief(folder, recipe))
    return folder


def brief(folder: Path, recipe: Recipe) -> Brief:
    """Return what scenario.json says of the run."""
    return Brief(
        run=folder.name,
        scenario="last_seat_race",
        story="Ten buyers reach for one seat at the same instant, again and again.",
        profile="smoke",
        seed=recipe.seed,
        target="builtin",
        command=f"lastseat run last_seat_race --seed {recipe.seed}",
        invariants=("never_oversold",),
        assumptions=(),
        tables={"holds": HOLDS, "resources": RESOURCES},
        t0_ns=T0_NS,
        links={"redis-a": "127.0.0.1:41001 → 127.0.0.1:6379"} if recipe.fault else {},
        parts={"postgresql": "18.6", "proxy": "toxiproxy 2.12.0", "machine": "2 cores, Linux 6.1"},
    )


def _changes_of(table: CanonicalTable) -> pa.Schema:
    return pa.schema([*schemas.CHANGE_HEAD, *((f"new_{own}", pa.string()) for own in table.columns.values())])


def _resource(race: int) -> dict[str, Any]:
    return {
        "commit_lsn": None,
        "action": "B",
        "new_id": str(race + 1),
        "new_capacity": "1",
        "new_state": "OPEN",
    }


def _clocks(end_ns: int) -> list[dict[str, Any]]:
    return [
        {"process": process, "mono_ns": at, "real_ns": at + EPOCH_OFFSET_NS, "slack_ns": 18_000}
        for process in ("load-0", "postgres")
        for at in (T0_NS, end_ns)
    ]


def _samples(end_ns: int, chance: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "mono_ns": at,
            "source": source,
            "metric": metric,
            "value": chance.uniform(0.0, high) if metric != "outbox_pending" else float(chance.randint(0, 3)),
        }
        for at in range(T0_NS, end_ns, SAMPLES_EVERY_NS)
        for source in ("node-a", "node-b")
        for metric, high in (("pool_in_use", 10.0), ("cpu_percent", 90.0), ("outbox_pending", 3.0))
    ]
