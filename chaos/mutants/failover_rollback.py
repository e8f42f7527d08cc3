"""Redis alone says what is left: what it forgets of the sale is sold again."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _schema, _stock, _take
from service.reservation import holds

MUTANT: Final = Mutant(
    name="failover-rollback",
    mechanism="Trusts the stock that Redis counts, and asks the database no more whether a seat is free.",
    section="redis",
    reports=("redis/redis#6062",),
    scenario="redis_failover",
    caught_by=("never_oversold",),
    schema=(_schema.NO_CAPACITY_CHECK,),
)


def plant() -> None:
    """Count in Redis, and take the guard out of the statement that takes a seat."""
    _stock.ask_redis_first()
    _take.drop_guard(holds.SQL)
