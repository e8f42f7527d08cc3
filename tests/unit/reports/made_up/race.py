"""Races made up with as much realism as a report shows: everybody leaves at once, one wins, some are never told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

T0_NS = 9_123_456_789_012_345
EPOCH_OFFSET_NS = 1_767_000_000_000_000_000 - T0_NS
RACE_NS = 150_000_000
OUTAGE = range(8, 13)  # the races that a fault falls on
OVERSOLD = 7  # the race of an oversold run that two win


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


def run_race(recipe: Recipe, race: int, chance: random.Random) -> None:
    """Add one race: everybody leaves within 100 µs, one wins, or in one race of an oversold run two do."""
    start = T0_NS + race * RACE_NS
    winners = {chance.randrange(recipe.buyers)}
    if recipe.oversold and race == OVERSOLD:
        winners = {3, 5}
    away = recipe.fault and race in OUTAGE
    for buyer in range(recipe.buyers):
        arrival = race * recipe.buyers + buyer
        sent = start + chance.randrange(20_000, 120_000)
        done = sent + int(chance.lognormvariate(1.2, 0.5) * 1e6 * (4 if away else 1))
        won = buyer in winners
        lost_reply = away and chance.random() < 0.15
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


def outage(end_ns: int) -> dict[str, Any]:
    """Return the record of the fault, in all columns of faults.parquet."""
    start = T0_NS + OUTAGE.start * RACE_NS
    return {
        "fault": "redis cut",
        "kind": "cut",
        "where": "redis-a",
        "planned_ns": start,
        "injected_ns": start + 1_000_000,
        "landed_ns": start + 3_000_000,
        "healed_ns": min(start + len(OUTAGE) * RACE_NS, end_ns),
        "proof": "A probe through redis-a was refused after 0.4 ms.",
        "error": None,
    }
