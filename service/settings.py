"""Every limit and address of the service: one struct, read from the environment, prefix RESERVATION_."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "RESERVATION_"
_SECRET_BYTES_MIN: Final = 32  # below that, HS256 is weaker than its hash (RFC 7518, 3.2)
_SUPPRESSOR_MS_MAX: Final = 2_000
_TRUE: Final = {"1": True, "true": True, "0": False, "false": False}


class SettingsError(ValueError):
    """A setting is missing, unknown or out of range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings; times in seconds unless named `_ms`. The seeds' numbers are the defaults."""

    database_url: str
    redis_url: str = "redis://127.0.0.1:6379/0"
    token_secret: str
    owner_secret: str

    # Who is believed.
    token_leeway_seconds: int = 30
    token_cache: int = 10_000
    trust_owner_header: bool = False
    trusted_tenant: str = "demo"

    # What is read from a request, and what is given out at once.
    head_bytes_max: int = 65_536
    body_bytes_max: int = 16_384
    request_seconds: float = 10.0  # for a head to arrive whole, and for a body
    idempotency_key_chars_max: int = 255
    page_rows_default: int = 50
    page_rows_max: int = 500
    hold_quantity_max: int = 100
    capacity_max: int = 1_000_000

    # The HTTP server. Idle connections outlive any run: a reset on reuse is not a refusal.
    keep_alive_seconds: int = 3_600
    shutdown_seconds: int = 5
    backlog: int = 2_048

    # All that a request may take once it is there: every wait below ends sooner where less than its own bound is left.
    # Shorter than clients wait, so that they are told to try again, and not left to wonder.
    command_deadline_ms: int = 3_000

    # The database. All of these are shorter than the leases below.
    pool_connections_min: int = 4
    pool_connections_max: int = 16
    pool_acquire_ms: int = 2_000
    connect_ms: int = 2_000
    lock_timeout_ms: int = 2_000
    statement_timeout_ms: int = 4_000
    transaction_timeout_ms: int = 6_000
    idle_in_transaction_timeout_ms: int = 4_000
    tcp_user_timeout_ms: int = 5_000
    command_timeout_ms: int = 6_000
    transaction_attempts_max: int = 4
    statement_cache: int = 256

    # Lifetimes that a resource may override when it is created.
    hold_seconds: float = 480.0
    offer_seconds: float = 300.0
    lifetime_seconds_max: float = 86_400.0

    # Idempotency.
    idempotency_lease_seconds: float = 90.0

    # Plain holds that wait for the same resource, decided in one transaction.
    holds_together: bool = False
    holds_together_max: int = 32

    # Admission.
    bulkhead_permits: int = 256
    worker_permits: int = 4  # connections of each worker: never those of the foreground
    admission_retry_after_ms: int = 200
    redis_enabled: bool = True
    redis_permits: int = 1_024
    redis_permit_lease_ms: int = 10_000
    redis_timeout_ms: int = 100
    suppressor_ttl_ms: int = 2_000
    breaker_failures: int = 3
    breaker_open_ms: int = 500

    # Leadership and the expiry sweep.
    sweep_resources_max: int = 32
    sweep_budget_seconds: float = 5.0
    sweep_tick_seconds: float = 1.0
    sweep_rows_max: int = 500
    leader_lease_seconds: float = 15.0

    # Notifications.
    notification_url: str = "http://127.0.0.1:8089/notifications"
    notification_timeout_ms: int = 5_000
    notification_batch: int = 16
    notification_tick_seconds: float = 0.5
    notification_claim_seconds: float = 30.0
    notification_attempts_max: int = 5
    notification_retry_initial_seconds: float = 2.0
    notification_retry_max_seconds: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what cannot work before anything starts."""
        for name in ("token_secret", "owner_secret"):
            if len(getattr(self, name).encode()) < _SECRET_BYTES_MIN:
                raise SettingsError(f"{PREFIX}{name.upper()} needs at least {_SECRET_BYTES_MIN} bytes")
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and not 0 < value < math.inf:
                raise SettingsError(f"{PREFIX}{field.name.upper()} must be positive and finite")
        _ordered(self)

    @classmethod
    def from_env(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the settings; raises SettingsError naming the variable that is missing, unknown or unreadable."""
        given = {
            name.removeprefix(PREFIX).lower(): text
            for name, text in (os.environ if environment is None else environment).items()
            if name.startswith(PREFIX)
        }
        kinds = {field.name: str(field.type) for field in fields(cls)}
        if unknown := sorted(set(given) - set(kinds)):
            raise SettingsError(f"unknown setting {PREFIX}{unknown[0].upper()}")
        values = {name: _read(name, kinds[name], text) for name, text in given.items()}
        try:
            return cls(**values)  # type: ignore[arg-type]  # each value was read as its field's type
        except TypeError:
            missing = next(
                name for name in ("database_url", "token_secret", "owner_secret") if name not in values
            )
            raise SettingsError(f"{PREFIX}{missing.upper()} is not set") from None


def _read(name: str, kind: str, text: str) -> object:
    try:
        if kind == "bool":
            return _TRUE[text.strip().lower()]
        return {"int": int, "float": float, "str": str}[kind](text)
    except (ValueError, KeyError):
        raise SettingsError(f"{PREFIX}{name.upper()} is not of type {kind}: {text!r}") from None


def _ordered(settings: Settings) -> None:
    """Refuse a lease that a transaction, or the wait for a connection that is dead, could outlive."""
    timeouts = ("lock", "statement", "transaction", "idle_in_transaction", "tcp_user", "command")
    longest = max((getattr(settings, f"{name}_timeout_ms"), name) for name in timeouts)
    leases = ("idempotency_lease_seconds", "leader_lease_seconds", "notification_claim_seconds")
    for name in leases:
        if getattr(settings, name) <= longest[0] / 1_000:
            raise SettingsError(f"{PREFIX}{name.upper()} must outlast the {longest[1]} timeout")
    if settings.idempotency_lease_seconds <= settings.command_deadline_ms / 1_000:
        raise SettingsError(f"{PREFIX}IDEMPOTENCY_LEASE_SECONDS must outlast the command's deadline")
    if settings.notification_claim_seconds <= settings.notification_timeout_ms / 1_000:
        raise SettingsError(f"{PREFIX}NOTIFICATION_CLAIM_SECONDS must outlast a send")
    if settings.suppressor_ttl_ms > _SUPPRESSOR_MS_MAX:
        raise SettingsError(
            f"{PREFIX}SUPPRESSOR_TTL_MS may be {_SUPPRESSOR_MS_MAX} at most: a crash hides an answer"
        )
    if settings.leader_lease_seconds <= settings.sweep_budget_seconds:
        raise SettingsError(f"{PREFIX}LEADER_LEASE_SECONDS must outlast the sweep's budget")
