"""Settings are read from the environment; what cannot work is refused by name."""

from __future__ import annotations

import pytest

from service.settings import Settings, SettingsError

NEEDED = {
    "RESERVATION_DATABASE_URL": "postgresql://x/y",
    "RESERVATION_TOKEN_SECRET": "t" * 32,
    "RESERVATION_OWNER_SECRET": "o" * 32,
}


def test_the_seeds_numbers_are_the_defaults() -> None:
    settings = Settings.from_env(NEEDED | {"PATH": "/bin"})
    assert settings.idempotency_lease_seconds == 90
    assert (settings.sweep_resources_max, settings.sweep_budget_seconds) == (32, 5)
    assert settings.notification_claim_seconds == 30
    assert settings.notification_attempts_max == 5
    assert (settings.notification_retry_initial_seconds, settings.notification_retry_max_seconds) == (2, 10)
    assert not settings.trust_owner_header


def test_each_kind_of_value_is_read() -> None:
    settings = Settings.from_env(
        NEEDED
        | {
            "RESERVATION_POOL_CONNECTIONS_MAX": "3",
            "RESERVATION_HOLD_SECONDS": "0.5",
            "RESERVATION_REDIS_ENABLED": "False",
        }
    )
    assert (settings.pool_connections_max, settings.hold_seconds, settings.redis_enabled) == (3, 0.5, False)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"RESERVATION_POOL_SIZE": "3"}, "RESERVATION_POOL_SIZE"),
        ({"RESERVATION_HOLD_SECONDS": "soon"}, "RESERVATION_HOLD_SECONDS"),
        ({"RESERVATION_HOLD_SECONDS": "0"}, "RESERVATION_HOLD_SECONDS"),
        ({"RESERVATION_HOLD_SECONDS": "nan"}, "RESERVATION_HOLD_SECONDS"),
        ({"RESERVATION_HOLD_SECONDS": "inf"}, "RESERVATION_HOLD_SECONDS"),
        ({"RESERVATION_REDIS_ENABLED": "maybe"}, "RESERVATION_REDIS_ENABLED"),
        ({"RESERVATION_TOKEN_SECRET": "short"}, "RESERVATION_TOKEN_SECRET"),
        ({"RESERVATION_IDEMPOTENCY_LEASE_SECONDS": "5"}, "RESERVATION_IDEMPOTENCY_LEASE_SECONDS"),
        ({"RESERVATION_COMMAND_DEADLINE_MS": "90000"}, "must outlast the command's deadline"),
        ({"RESERVATION_TCP_USER_TIMEOUT_MS": "15000"}, "LEADER_LEASE_SECONDS must outlast the tcp_user"),
        (
            {"RESERVATION_LEADER_LEASE_SECONDS": "6.5", "RESERVATION_SWEEP_BUDGET_SECONDS": "7"},
            "LEADER_LEASE",
        ),
        ({"RESERVATION_NOTIFICATION_TIMEOUT_MS": "30000"}, "RESERVATION_NOTIFICATION_CLAIM_SECONDS"),
        ({"RESERVATION_SUPPRESSOR_TTL_MS": "2001"}, "SUPPRESSOR_TTL_MS"),
    ],
)
def test_what_cannot_work_is_refused_by_name(change: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        Settings.from_env(NEEDED | change)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="RESERVATION_OWNER_SECRET is not set"):
        Settings.from_env({key: value for key, value in NEEDED.items() if "OWNER" not in key})
