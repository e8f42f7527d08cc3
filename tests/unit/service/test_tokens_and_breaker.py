"""Owners are told apart; a breaker leaves the other side alone for a while, and tries once."""

from __future__ import annotations

from service.reservation import idempotency
from service.reservation.admission.breaker import Breaker, Circuit
from service.tokens import owner_digest


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
