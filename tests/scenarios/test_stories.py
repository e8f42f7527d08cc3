"""The facts of each story that its verdict does not tell: that what it speaks of did happen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from chaos.providers import ledger
from scenarios import registry

if TYPE_CHECKING:
    Catalogue = dict[str, Any]

pytestmark = [pytest.mark.catalogue, pytest.mark.timeout(3_600)]


def test_what_the_absence_of_redis_added_to_a_hold_is_told(catalogue: Catalogue) -> None:
    summary = (catalogue["redis_outage"].folder / "summary.md").read_text()
    assert "| added to hold by a fault, ms | before | during | after |" in summary
    for measure in ("response", "service"):
        told = rf": {measure} time [^|]*, p50 \| [\d.,]+ \| [\d.,]+ \([+-][\d.,]+\) \|"
        assert re.search(told, summary), summary


@pytest.mark.parametrize("name", ["redis_outage", "redis_blackhole", "redis_flapping", "boot_without_redis"])
def test_seats_are_sold_while_redis_is_away(name: str, catalogue: Catalogue) -> None:
    run = catalogue[name]
    sold = """
        SELECT count(*) FROM {operations} AS operation, {faults} AS fault
        WHERE operation.kind = 'hold' AND outcome = 'ok' AND fault.kind IN ('cut', 'blackhole')
          AND sent_ns > landed_ns AND done_ns < healed_ns
    """
    assert run.one(sold) > 0
    assert run.one("SELECT count(*) FROM {operations} WHERE status >= 500") == 0


def test_a_lost_answer_is_learnt_by_asking_again(catalogue: Catalogue) -> None:
    run = catalogue["timeout_retry"]
    learnt = """
        SELECT count(*) FROM {operations} AS lost JOIN {operations} AS told USING (key)
        WHERE lost.outcome = 'info' AND told.outcome = 'ok' AND told.replayed AND told.attempt > lost.attempt
    """
    assert run.one(learnt) > 0
    assert run.one("SELECT max(attempt) FROM {operations}") > 2


def test_twins_were_under_way_together_at_two_nodes(catalogue: Catalogue) -> None:
    twins = """
        SELECT count(*) FROM {operations} AS one JOIN {operations} AS other USING (key)
        WHERE one.attempt = 1 AND other.attempt = 2 AND one.node <> other.node
          AND one.sent_ns < other.done_ns AND other.sent_ns < one.done_ns
    """
    assert catalogue["timeout_retry"].one(twins) > 0


def test_offers_went_down_the_line_until_it_was_empty_and_seats_were_free(catalogue: Catalogue) -> None:
    run = catalogue["offer_expiry"]
    seats = registry.find("offer_expiry").sale.capacity * registry.find("offer_expiry").sale.resources
    assert run.one("SELECT count(*) FROM {state/offers} WHERE new_state = 'EXPIRED'") > seats
    assert run.one("SELECT count(*) FROM {state/offers} WHERE new_state = 'ACCEPTED'") > 0
    assert run.one("SELECT count(*) FROM {state/waitlist_entries} WHERE new_state = 'WAITING'") == 0
    assert run.one("SELECT sum(CAST(new_occupied_count AS BIGINT)) FROM {state/resources}") < seats


def test_strangers_changed_nothing(catalogue: Catalogue) -> None:
    run = catalogue["stolen_offer"]
    assert run.one("SELECT count(*) FROM {operations} WHERE code = 'OWNER_MISMATCH'") > 10
    granted = "SELECT count(*) FROM {operations} WHERE outcome = 'ok' AND key LIKE '%-s_'"  # a stranger's key
    assert run.one(granted) == 0
    assert run.one(granted.replace("outcome = 'ok'", "outcome = 'fail'")) > 10


def test_nobody_was_told_that_the_database_was_busy_over_locks(catalogue: Catalogue) -> None:
    assert catalogue["lock_order"].one("SELECT count(*) FROM {operations} WHERE code = 'DATABASE_BUSY'") == 0


def test_no_owner_has_more_seats_than_the_limit(catalogue: Catalogue) -> None:
    most = """
        SELECT max(seats) FROM (
            SELECT sum(CAST(new_quantity AS BIGINT)) AS seats FROM {state/holds}
            WHERE new_state IN ('ACTIVE', 'CONFIRMED') GROUP BY new_resource_id, new_owner_digest
        )
    """
    assert catalogue["limit_bypass"].one(most) == 2


def test_the_limit_refused_somebody_while_redis_was_away(catalogue: Catalogue) -> None:
    refused = """
        SELECT count(*) FROM {operations}, {faults}
        WHERE code = 'OWNER_LIMIT_REACHED' AND sent_ns > landed_ns AND done_ns < healed_ns
    """
    assert catalogue["limit_without_redis"].one(refused) > 0


def test_seats_were_sold_in_the_time_of_which_redis_lost_its_memory(catalogue: Catalogue) -> None:
    sold = """
        SELECT count(*) FROM {operations} AS operation, {faults}
        WHERE operation.kind = 'hold' AND outcome = 'ok' AND sent_ns > injected_ns AND done_ns < landed_ns
    """
    assert catalogue["redis_failover"].one(sold) > 0


def test_the_number_of_a_notice_that_was_never_committed_is_missing(catalogue: Catalogue) -> None:
    missing = "SELECT max(CAST(new_id AS BIGINT)) - count(*) FROM {state/notification_outbox}"
    assert catalogue["torn_handover"].one(missing) > 0


def test_a_delivery_that_nobody_wrote_down_was_sent_again_by_another_under_its_id(
    catalogue: Catalogue,
) -> None:
    run = catalogue["worker_crash"]
    proof = run.one("SELECT proof FROM {faults}")
    dead, delivery = re.fullmatch(r"(\S+) was killed .* after (\S+) was accepted", proof).groups()  # type: ignore[union-attr]  # or it fails
    sent = [
        each for each in ledger.read(run.folder / "ledgers/notification.jsonl") if each.effect == delivery
    ]
    assert [each.answer for each in sent] == ["accepted", "duplicate"]
    assert sent[0].caller == dead
    assert sent[1].caller not in {"", dead}
    state = f"SELECT new_state FROM {{state/notification_outbox}} WHERE new_delivery_id = '{delivery}'"
    assert run.one(state) == "DELIVERED"


@pytest.mark.parametrize("name", ["poison_delivery", "provider_down"])
def test_what_nobody_takes_is_given_up_after_five_attempts(name: str, catalogue: Catalogue) -> None:
    attempts = """
        SELECT list(DISTINCT CAST(new_attempt_count AS BIGINT)) FROM {state/notification_outbox}
        WHERE new_state = 'EXHAUSTED'
    """
    assert catalogue[name].one(attempts) == [5]


def test_another_leads_while_the_leader_sleeps(catalogue: Catalogue) -> None:
    terms = "SELECT count(DISTINCT new_term) FROM {changes/leader_leases}"
    assert catalogue["leader_pause"].one(terms) > 1


@pytest.mark.parametrize("name", ["orphaned_claim", "node_kill"])
def test_a_claim_of_the_dead_is_taken_over_and_carried_out_by_another(
    name: str, catalogue: Catalogue
) -> None:
    run = catalogue[name]
    taken_over = """
        SELECT count(*) FROM (
            SELECT new_id FROM {changes/idempotency_records} GROUP BY new_id HAVING count(DISTINCT new_owner_token) > 1
        ) AS record SEMI JOIN {state/idempotency_answers} AS answer ON answer.new_record_id = record.new_id
    """
    assert run.one(taken_over) > 0


def test_a_command_whose_outcome_is_unknown_is_settled_by_its_key(catalogue: Catalogue) -> None:
    settled = """
        SELECT count(*) FROM {operations} AS unknown JOIN {operations} AS told USING (key)
        WHERE unknown.code = 'OUTCOME_UNKNOWN' AND told.outcome = 'ok' AND told.sent_ns > unknown.done_ns
    """
    assert catalogue["database_blip"].one(settled) > 0


def test_seats_are_sold_once_the_permits_of_the_dead_are_over(catalogue: Catalogue) -> None:
    sold = """
        SELECT count(*) FROM {operations} AS operation, {faults} AS fault
        WHERE operation.kind = 'hold' AND outcome = 'ok' AND sent_ns > landed_ns + 500000000
    """
    assert catalogue["permit_leak"].one(sold) > 0
