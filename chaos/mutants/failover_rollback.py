"""Redis alone says what is left: what it forgets of the sale is sold again."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, redis_authority, reword
from service.reservation import holds

MUTANT: Final = Mutant(
    name="failover-rollback",
    mechanism="Trusts the stock that Redis counts, and asks the database no more whether a seat is free.",
    section="redis",
    reports=("redis/redis#6062",),
    scenario="redis_failover",
    caught_by=("never_oversold",),
    schema=("ALTER TABLE resources DROP CONSTRAINT resources_never_oversold",),
)


def plant() -> None:
    """Count in Redis, and take the guard out of the statement that takes a seat."""
    redis_authority.plant()
    reword(
        holds.SQL,
        "take",
        was="WHEN occupied_count + $7::bigint > capacity THEN 'CAPACITY_EXHAUSTED'",
        now="WHEN $7::bigint < 1 THEN 'CAPACITY_EXHAUSTED'",
    )
