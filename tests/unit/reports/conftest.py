"""A run folder made by hand: twenty races of ten buyers for one seat each, with as much realism as a report shows."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checker import schemas
from checker.brief import Brief, CanonicalTable, write_brief
from checker.verdict import Finding, Judgement, Premise, Verdict, WitnessLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T0_NS = 9_123_456_789_012_345
EPOCH_OFFSET_NS = 1_767_000_000_000_000_000 - T0_NS
CHANGES = pa.schema(
    [
        *schemas.CHANGE_HEAD,
        *((f"new_{name}", pa.string()) for name in ("id", "resource_id", "state", "quantity")),
    ]
)
RESOURCE_CHANGES = pa.schema(
    [*schemas.CHANGE_HEAD, *((f"new_{name}", pa.string()) for name in ("id", "capacity", "state"))]
)
RESOURCES = CanonicalTable(
    table="resources", key=("id",), columns={"id": "id", "capacity": "capacity", "state": "state"}
)
HOLDS = CanonicalTable(
    table="holds",
    key=("id",),
    columns={
        "id": "id",
        "resource": "resource_id",
        "state": "state",
        "quantity": "quantity",
    },
)


@dataclass(kw_only=True)
class Recipe:
    """What kind of run to make up."""

    races: int = 20
    buyers: int = 10
    oversold: bool = False
    fault: bool = False
    owner: str = "buyer-{}"
    seed: int = 7
    rows: list[dict[str, Any]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of run folders; its keywords are those of Recipe."""

    def make(name: str = "2026-05-04T12-30-00Z", **wishes: Any) -> Path:
        folder = tmp_path / "last_seat_race" / name
        folder.mkdir(parents=True)
        return build(folder, Recipe(**wishes))

    return make


def build(folder: Path, recipe: Recipe) -> Path:
    """Write every part of a run but the verdict."""
    chance = random.Random(recipe.seed)
    for race in range(recipe.races):
        _race(recipe, race, chance)
    pq.write_table(
        pa.Table.from_pylist(recipe.rows, schema=schemas.OPERATIONS), folder / "operations.parquet"
    )
    for part in ("changes", "base"):
        (folder / part).mkdir(exist_ok=True)
    resources = [
        {"commit_lsn": None, "action": "B", "new_id": str(race + 1), "new_capacity": "1", "new_state": "OPEN"}
        for race in range(recipe.races)
    ]
    pq.write_table(
        pa.Table.from_pylist(resources, schema=RESOURCE_CHANGES), folder / "base" / "resources.parquet"
    )
    pq.write_table(RESOURCE_CHANGES.empty_table(), folder / "changes" / "resources.parquet")
    pq.write_table(pa.Table.from_pylist(recipe.changes, schema=CHANGES), folder / "changes" / "holds.parquet")
    end_ns = T0_NS + recipe.races * 150_000_000
    clocks = [
        {"process": process, "mono_ns": at, "real_ns": at + EPOCH_OFFSET_NS, "slack_ns": 18_000}
        for process in ("load-0", "postgres")
        for at in (T0_NS, end_ns)
    ]
    pq.write_table(pa.Table.from_pylist(clocks, schema=schemas.CLOCKS), folder / "clocks.parquet")
    faults = [_fault(end_ns)] if recipe.fault else []
    pq.write_table(pa.Table.from_pylist(faults, schema=schemas.FAULTS), folder / "faults.parquet")
    samples = [
        {
            "mono_ns": at,
            "source": source,
            "metric": metric,
            "value": chance.uniform(0.0, high) if metric != "outbox_pending" else float(chance.randint(0, 3)),
        }
        for at in range(T0_NS, end_ns, 100_000_000)
        for source in ("node-a", "node-b")
        for metric, high in (("pool_in_use", 10.0), ("cpu_percent", 90.0), ("outbox_pending", 3.0))
    ]
    pq.write_table(pa.Table.from_pylist(samples, schema=schemas.SAMPLES), folder / "samples.parquet")
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


def verdict(folder: Path, judgement: Judgement = Judgement.VALID, **changed: Any) -> Verdict:
    """Return a verdict of the run folder as the checker would give it."""
    witness = (
        WitnessLine(at_ms=1050.1, who="buyer-73", what="sends hold for the last seat of resource 8"),
        WitnessLine(at_ms=1050.13, who="buyer-75", what="sends hold for the last seat of resource 8"),
        WitnessLine(at_ms=1053.9, who="PostgreSQL", what="commits hold 8001: 1 of 1 taken"),
        WitnessLine(at_ms=1054.2, who="PostgreSQL", what="commits hold 8002: 2 of 1 taken"),
        WitnessLine(at_ms=None, who="state", what="2 live holds on a resource of capacity 1"),
    )
    invalid = judgement is Judgement.INVALID
    findings = (
        Finding(
            invariant="states_move_one_way",
            group="reservation",
            sentence="A hold that ended never changes again.",
            judgement=Judgement.VALID,
            looked_at=20,
            count=0,
            sql_hash="b" * 12,
        ),
        Finding(
            invariant="never_oversold",
            group="reservation",
            sentence="Live claims on a resource never add up to more than its capacity, at any commit.",
            judgement=judgement,
            looked_at=20,
            count=2 if invalid else 0,
            sql_hash="a" * 12,
            reason="The base snapshot could not be read." if judgement is Judgement.UNKNOWN else None,
            rests_on=("trail_complete",),
            counter_examples=({"resource": "8", "claimed": 2, "capacity": 1, "commit_lsn": 4711},)
            if invalid
            else (),
            witness=witness if invalid else (),
        ),
    )
    whole = Verdict(
        run=folder.name,
        scenario="last_seat_race",
        story="Ten buyers reach for one seat at the same instant, again and again.",
        profile="smoke",
        seed=7,
        target="builtin",
        command="lastseat run last_seat_race --seed 7",
        judgement=judgement,
        reasons=("never_oversold: 2 counter-examples among 20.",) if invalid else (),
        findings=findings,
        premises=(
            Premise(
                name="overlap", kind="vacuity", holds=True, required="≥ 8 in flight", measured="10 in flight"
            ),
            Premise(
                name="trail_complete",
                kind="evidence",
                holds=judgement is not Judgement.UNKNOWN,
                required="base + trail = state",
                measured="equal in 3 tables"
                if judgement is not Judgement.UNKNOWN
                else "holds differ in 1 row",
            ),
        ),
        operations=220,
        changes=20,
        mutant="oversell-read-write" if invalid else None,
    )
    return msgspec.structs.replace(whole, **changed)


def _race(recipe: Recipe, race: int, chance: random.Random) -> None:
    """Add one race: everybody leaves within 100 µs, one wins, or in one race of an oversold run two do."""
    start = T0_NS + race * 150_000_000
    winners = {chance.randrange(recipe.buyers)}
    if recipe.oversold and race == 7:
        winners = {3, 5}
    outage = recipe.fault and 8 <= race < 13
    for buyer in range(recipe.buyers):
        arrival = race * recipe.buyers + buyer
        sent = start + chance.randrange(20_000, 120_000)
        done = sent + int(chance.lognormvariate(1.2, 0.5) * 1e6 * (4 if outage else 1))
        won = buyer in winners
        lost_reply = outage and chance.random() < 0.15
        created = f"{race + 1}{buyer:03}" if won else None
        _operation(
            recipe,
            arrival=arrival,
            race=race,
            kind="hold",
            subject=str(race + 1),
            intended_ns=start,
            sent_ns=sent,
            done_ns=None if lost_reply and not won else done,
            outcome="info" if lost_reply and not won else "ok" if won else "fail",
            status=None if lost_reply and not won else 201 if won else 409,
            code=None if won or lost_reply else "SOLD_OUT",
            created=created,
            error="timeout" if lost_reply and not won else None,
        )
        if won:
            _commit(recipe, done - 700_000, created, str(race + 1))
            confirm = done + 20_000_000
            _operation(
                recipe,
                arrival=arrival,
                race=None,
                kind="confirm",
                subject=created,
                intended_ns=confirm,
                sent_ns=confirm + 30_000,
                done_ns=confirm + chance.randrange(2_000_000, 6_000_000),
                outcome="ok",
                status=200,
                code=None,
                created=created,
                error=None,
            )


def _operation(recipe: Recipe, *, arrival: int, **cells: Any) -> None:
    recipe.rows.append(
        {
            "op": len(recipe.rows),
            "shard": 0,
            "arrival": arrival,
            "attempt": 1,
            "node": "a" if arrival % 2 else "b",
            "tenant": "main",
            "owner": recipe.owner.format(arrival),
            "quantity": 1,
            "key": f"run-{arrival}",
            "request_digest": "d",
            "replayed": False,
            "body_digest": "e",
            **cells,
        }
    )


def _commit(recipe: Recipe, at_ns: int, row: str | None, resource: str) -> None:
    number = len(recipe.changes)
    recipe.changes.append(
        {
            "commit_lsn": 1_000 + number,
            "position": 0,
            "change_lsn": 900 + number,
            "xid": 700 + number,
            "commit_us": (at_ns + EPOCH_OFFSET_NS) // 1000,
            "action": "I",
            "new_id": row,
            "new_resource_id": resource,
            "new_state": "ACTIVE",
            "new_quantity": "1",
        }
    )


def _fault(end_ns: int) -> dict[str, Any]:
    start = T0_NS + 8 * 150_000_000
    return {
        "fault": "redis cut",
        "kind": "cut",
        "where": "redis-a",
        "planned_ns": start,
        "injected_ns": start + 1_000_000,
        "landed_ns": start + 3_000_000,
        "healed_ns": min(start + 750_000_000, end_ns),
        "proof": "A probe through redis-a was refused after 0.4 ms.",
        "error": None,
    }


@pytest.fixture
def make_verdict() -> Callable[..., Verdict]:
    """Return the maker of verdicts."""
    return verdict
