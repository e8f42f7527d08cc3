"""Owners are told apart; a breaker leaves the other side alone for a while, and tries once."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

import jwt
import pytest

from service.errors import Refused
from service.reservation import idempotency
from service.reservation.admission.breaker import Breaker, Circuit
from service.settings import Settings
from service.tokens import Tokens, owner_digest


def test_tenant_and_subject_do_not_run_together() -> None:
    one = owner_digest("o" * 32, tenant="ab", subject="c")
    assert one != owner_digest("o" * 32, tenant="a", subject="bc")
    assert one != owner_digest("p" * 32, tenant="ab", subject="c")
    assert len(one) == 64


def test_a_fingerprint_is_of_operation_payload_and_owner() -> None:
    prints = {
        idempotency.fingerprint("hold", [1, 1, None], "alice"),
        idempotency.fingerprint("hold", [2, 1, None], "alice"),
        idempotency.fingerprint("hold", [1, 2, None], "alice"),
        idempotency.fingerprint("hold", [1, 1, 0], "alice"),
        idempotency.fingerprint("hold", [1, 1, None], "bob"),
        idempotency.fingerprint("join", [1, 1, None], "alice"),
    }
    assert len(prints) == 6
    assert idempotency.fingerprint("hold", [1, 1, None], "alice") in prints


def test_a_breaker_opens_after_failures_in_a_row_and_lets_one_try_once_it_has_rested() -> None:
    now = 0.0
    breaker = Breaker(failures=2, open_ms=500, monotonic=lambda: now)
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.circuit is Circuit.CLOSED  # not in a row

    breaker.failed()
    assert breaker.circuit is Circuit.OPEN
    assert not breaker.may_ask()

    now = 0.5
    assert breaker.circuit is Circuit.HALF_OPEN
    assert [breaker.may_ask(), breaker.may_ask()] == [True, False]
    breaker.failed()
    assert breaker.circuit is Circuit.OPEN  # one failure is enough now

    now = 1.0
    assert breaker.may_ask()
    breaker.succeeded()
    assert breaker.circuit is Circuit.CLOSED


class Later(datetime):
    """A clock that is a minute and two seconds fast."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(seconds=62)


def _settings(**more: Any) -> Settings:
    return Settings(database_url="x", token_secret="t" * 32, owner_secret="o" * 32, **more)


def _bearer(subject: str, expires_at: float) -> dict[str, str]:
    claims = {"sub": subject, "tenant": "demo", "exp": expires_at}
    return {"authorization": "Bearer " + jwt.encode(claims, "t" * 32, algorithm="HS256")}


def test_a_token_known_from_before_still_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Tokens(_settings(token_leeway_seconds=1))
    headers = _bearer("alice", time.time() + 60)
    assert tokens.caller(headers) is tokens.caller(headers)

    monkeypatch.setattr("service.tokens.time.time", Later.now(UTC).timestamp)
    monkeypatch.setattr("jwt.api_jwt.datetime", Later)
    with pytest.raises(Refused):
        tokens.caller(headers)


def test_only_so_many_tokens_are_remembered() -> None:
    tokens = Tokens(_settings(token_cache=2))
    for subject in ("alice", "bob", "carol"):
        tokens.caller(_bearer(subject, time.time() + 60))
    assert len(tokens._verified) == 2
