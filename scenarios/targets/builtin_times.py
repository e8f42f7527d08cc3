"""The built-in service's times, scaled so that what takes minutes in life ends within a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenarios.scenario import Sale

PREFIX: Final = "RESERVATION_"
PERMITS: Final = f"{PREFIX}REDIS_PERMITS"

# A tenth of the seeds' times, or less: these bound nothing, they only say how soon somebody looks.
_TICKS: Final = {
    "SWEEP_TICK_SECONDS": 0.1,
    "NOTIFICATION_TICK_SECONDS": 0.05,
    "NOTIFICATION_RETRY_INITIAL_SECONDS": 0.2,
    "NOTIFICATION_RETRY_MAX_SECONDS": 1.0,
}
# What must outlast a transaction, and shares of it that a transaction and its parts may take: the service refuses
# to start where a lease could end before the work that it covers.
_LEASES: Final = ("IDEMPOTENCY_LEASE_SECONDS", "LEADER_LEASE_SECONDS", "NOTIFICATION_CLAIM_SECONDS")
_SWEEP_SHARE: Final = 0.5
_SHARES: Final = {
    "LOCK_TIMEOUT_MS": 0.4,
    "POOL_ACQUIRE_MS": 0.4,
    "STATEMENT_TIMEOUT_MS": 0.6,
    "IDLE_IN_TRANSACTION_TIMEOUT_MS": 0.6,
    "NOTIFICATION_TIMEOUT_MS": 0.3,
    "TCP_USER_TIMEOUT_MS": 0.7,
    "TRANSACTION_TIMEOUT_MS": 0.8,
    "COMMAND_TIMEOUT_MS": 0.8,
    "COMMAND_DEADLINE_MS": 0.75,
}


def times(sale: Sale) -> Mapping[str, str]:
    """Return the settings that hold its times, by their names in the environment."""
    scaled: dict[str, float] = {
        "HOLD_SECONDS": sale.hold_seconds,
        "OFFER_SECONDS": sale.offer_seconds,
        **_TICKS,
    }
    if (lease := sale.lease_seconds) is not None:
        scaled |= dict.fromkeys(_LEASES, lease) | {"SWEEP_BUDGET_SECONDS": lease * _SWEEP_SHARE}
        scaled |= {name: int(lease * share * 1_000) for name, share in _SHARES.items()}
    return {f"{PREFIX}{name}": str(value) for name, value in scaled.items()}
