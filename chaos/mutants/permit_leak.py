"""Permits are only counted: one that a killed node held is never given back."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant
from service.reservation.admission import redis_gate

MUTANT: Final = Mutant(
    name="permit-leak",
    mechanism="Counts permits up and down without a lease, so that a killed node keeps those that it had.",
    section="redis",
    reports=("ixti/sidekiq-throttled#61", "ixti/sidekiq-throttled#66"),
    scenario="permit_leak",
    caught_by=("permits_return",),
    racy=True,
)

SCRIPTS: Final = {
    "admit": """
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then return 0 end
if not redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4]) then return 2 end
redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], 86400)
return 1
""",
    "leave": """
redis.call('DECR', KEYS[1])
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1
""",
}


def plant() -> None:
    """Put a counter in the place of the leases."""
    redis_gate._script = script


def script(name: str) -> str:
    """Return a script that counts, by the name of the service's own."""
    return SCRIPTS[name]
