"""What is not a request is refused with a code, never with a 500, and changes nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jwt

from service.errors import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

KEY = {"Idempotency-Key": "one"}
NO_KEY = {"Idempotency-Key": ""}


def _told(answer: Any) -> tuple[int, str]:
    body = answer.json
    assert set(body) <= {"code", "message", "retryAfterMs"}
    assert answer.headers["content-type"] == "application/json"
    assert REFUSALS[body["code"]].status == answer.status
    return answer.status, body["code"]


NOT_A_HOLD: list[tuple[bytes, dict[str, str], int, str]] = [
    (b"{", KEY, 400, "MALFORMED_JSON"),
    (b"\xff\xfe", KEY, 400, "MALFORMED_JSON"),
    (b"[" * 100_000, KEY, 413, "PAYLOAD_TOO_LARGE"),
    (b'{"quantity": ' + b"[" * 10_000, KEY, 422, "INVALID_BODY"),
    (b"[]", KEY, 422, "INVALID_BODY"),
    (b'{"quantity": "1"}', KEY, 422, "INVALID_BODY"),
    (b'{"quantity": 0}', KEY, 422, "INVALID_BODY"),
    (b'{"quantity": -1}', KEY, 422, "INVALID_BODY"),
    (b'{"quantity": 1.5}', KEY, 422, "INVALID_BODY"),
    (b'{"quantity": 101}', KEY, 422, "INVALID_BODY"),
    (b'{"quantity": 99999999999999999999}', KEY, 422, "INVALID_BODY"),
    (b'{"expectedResourceRevision": -1}', KEY, 422, "INVALID_BODY"),
    (b'{"seats": 1}', KEY, 422, "INVALID_BODY"),
    (b"{}", NO_KEY, 400, "IDEMPOTENCY_KEY_REQUIRED"),
    (b"{}", {"Idempotency-Key": "k" * 256}, 400, "IDEMPOTENCY_KEY_INVALID"),
    (b"{}", {"Idempotency-Key": "a b"}, 400, "IDEMPOTENCY_KEY_INVALID"),
    (b"{}", {"Idempotency-Key": "\u00e9"}, 400, "IDEMPOTENCY_KEY_INVALID"),
    (b"{}", KEY | {"Authorization": ""}, 401, "UNAUTHENTICATED"),
    (b"{}", KEY | {"Authorization": "Bearer nonsense"}, 401, "UNAUTHENTICATED"),
    (b"{}", KEY | {"Authorization": "", "X-Reservation-Owner": "alice"}, 401, "UNAUTHENTICATED"),
]

NOT_THERE = [
    ("GET", "/api/resources/0", 404, "RESOURCE_NOT_FOUND"),
    ("GET", "/api/resources/999999999999999999999999", 404, "RESOURCE_NOT_FOUND"),
    ("GET", "/api/resources/-1", 404, "RESOURCE_NOT_FOUND"),
    ("GET", "/api/resources/abc", 404, "RESOURCE_NOT_FOUND"),
    ("GET", "/api/holds/77", 404, "HOLD_NOT_FOUND"),
    ("GET", "/api/waitlist/77", 404, "ENTRY_NOT_FOUND"),
    ("GET", "/api/offers/77", 404, "OFFER_NOT_FOUND"),
    ("GET", "/api/reservations/77", 404, "RESERVATION_NOT_FOUND"),
    ("POST", "/api/resources/77/holds", 404, "RESOURCE_NOT_FOUND"),
    ("POST", "/api/resources/77/waitlist", 404, "RESOURCE_NOT_FOUND"),
    ("POST", "/api/holds/77/confirm", 404, "HOLD_NOT_FOUND"),
    ("POST", "/api/holds/77/cancel", 404, "HOLD_NOT_FOUND"),
    ("POST", "/api/waitlist/77/leave", 404, "ENTRY_NOT_FOUND"),
    ("POST", "/api/offers/77/accept", 404, "OFFER_NOT_FOUND"),
    ("POST", "/api/offers/77/decline", 404, "OFFER_NOT_FOUND"),
    ("POST", "/api/reservations/77/cancel", 404, "RESERVATION_NOT_FOUND"),
    ("POST", "/api/resources", 403, "FORBIDDEN"),
    ("POST", "/api/resources/1/close", 403, "FORBIDDEN"),
    ("POST", "/api/resources/1/resize", 403, "FORBIDDEN"),
    ("POST", "/api/resources/1/policy", 403, "FORBIDDEN"),
    ("GET", "/api/nothing", 404, "NOT_FOUND"),
    ("GET", "/api/resources/", 404, "NOT_FOUND"),
    ("DELETE", "/api/resources/1", 405, "METHOD_NOT_ALLOWED"),
    ("PUT", "/api/holds/1", 405, "METHOD_NOT_ALLOWED"),
    ("POST", "/health/live", 405, "METHOD_NOT_ALLOWED"),
    ("GET", "/api/resources?limit=501", 400, "INVALID_QUERY"),
    ("GET", "/api/resources?limit=x", 400, "INVALID_QUERY"),
    ("GET", "/api/resources?page=2", 400, "INVALID_QUERY"),
]


async def test_a_hold_that_is_none_is_refused_and_leaves_no_trace(service: Any) -> None:
    room, alice = await service.resource(5), service.person("alice")
    for body, headers, status, code in NOT_A_HOLD:
        answer = await alice.send("POST", f"/api/resources/{room}/holds", body, headers)
        assert _told(answer) == (status, code), (body[:40], headers)
    assert await service.sql.fetchval("SELECT count(*) FROM holds") == 0
    assert (
        await service.sql.fetchval("SELECT count(*) FROM idempotency_records WHERE operation = 'hold'") == 0
    )


async def test_what_is_not_there_is_told_apart(service: Any) -> None:
    alice = service.person("alice")
    for method, path, status, code in NOT_THERE:
        answer = await alice.send(method, path, b"", {"Idempotency-Key": f"{method}{path}"})
        assert _told(answer) == (status, code), (method, path)


async def test_a_wrong_method_is_told_which_ones_there_are(service: Any) -> None:
    alice = service.person("alice")
    told = {
        path: await alice.send("DELETE", path, b"", {}) for path in ("/api/resources", "/api/resources/1")
    }
    allowed = {path: set(answer.headers["allow"].split(", ")) for path, answer in told.items()}
    assert allowed == {"/api/resources": {"GET", "HEAD", "POST"}, "/api/resources/1": {"GET", "HEAD"}}


LACKING: list[dict[str, Any]] = [
    {"sub": "alice", "tenant": "demo"},
    {"sub": "alice", "tenant": "demo", "exp": 1},
    {"sub": "alice", "exp": 4_000_000_000},
    {"sub": "", "tenant": "demo", "exp": 4_000_000_000},
    {"sub": "alice", "tenant": "de\x00mo", "exp": 4_000_000_000},
    {"sub": "alice", "tenant": ["demo"], "exp": 4_000_000_000},
    {"sub": "a" * 256, "tenant": "demo", "exp": 4_000_000_000},
]


async def test_a_token_that_lacks_something_is_nobodys(service: Any) -> None:
    alice = service.person("alice")
    for claims in LACKING:
        token = jwt.encode(claims, "t" * 32, algorithm="HS256")
        answer = await alice.get("/api/resources", Authorization=f"Bearer {token}")
        assert _told(answer) == (401, "UNAUTHENTICATED"), claims


async def test_a_token_of_another_secret_or_without_a_signature_is_nobodys(service: Any) -> None:
    claims = {"sub": "alice", "tenant": "demo", "exp": 4_000_000_000}
    forged = jwt.encode(claims, "x" * 32, algorithm="HS256")
    unsigned = jwt.encode(claims, None, algorithm="none")
    for token in (forged, unsigned):
        answer = await service.person("alice").get("/api/resources", Authorization=f"Bearer {token}")
        assert _told(answer) == (401, "UNAUTHENTICATED")


async def test_the_owner_header_alone_is_believed_only_where_the_setting_says_so(
    start: Callable[..., Any],
) -> None:
    service = await start(trust_owner_header=True, trusted_tenant="demo")
    room = await service.resource(1)
    held = await service.person("x").send(
        "POST",
        f"/api/resources/{room}/holds",
        b"{}",
        {"Authorization": "", "X-Reservation-Owner": "alice", "Idempotency-Key": "k"},
    )
    assert held.status == 201
    by_token = await service.person("alice").get(f"/api/holds/{held.json['id']}")
    assert by_token.status == 200


async def test_nobody_sees_another_tenants_or_another_owners_rows(service: Any) -> None:
    room = await service.resource(1)
    hold = (await service.person("alice").post(f"/api/resources/{room}/holds", {})).json["id"]
    abroad = service.person("alice", tenant="other")

    assert _told(await abroad.get(f"/api/resources/{room}")) == (404, "RESOURCE_NOT_FOUND")
    assert _told(await abroad.get(f"/api/holds/{hold}")) == (404, "HOLD_NOT_FOUND")
    assert (await abroad.get("/api/resources")).json["resources"] == []
    assert _told(await abroad.post(f"/api/resources/{room}/holds", {})) == (404, "RESOURCE_NOT_FOUND")
    assert _told(await abroad.post(f"/api/holds/{hold}/cancel", {})) == (404, "HOLD_NOT_FOUND")
    assert _told(await service.person("bob").get(f"/api/holds/{hold}")) == (403, "OWNER_MISMATCH")
    assert (await service.admin.get(f"/api/holds/{hold}")).status == 200


async def test_pages_follow_one_another(service: Any) -> None:
    rooms = [await service.resource(1) for _ in range(5)]
    seen, after = [], 0
    while after is not None:
        page = (await service.person("alice").get(f"/api/resources?limit=2&after={after}")).json
        seen += [resource["id"] for resource in page["resources"]]
        after = page["nextAfter"]
    assert seen == rooms


async def test_a_request_id_is_taken_over_if_it_is_one_and_made_otherwise(service: Any) -> None:
    alice = service.person("alice")
    given = await alice.get("/api/resources", **{"X-Request-Id": "my-request.1"})
    odd = await alice.get("/api/resources", **{"X-Request-Id": "a b"})
    assert given.headers["x-request-id"] == "my-request.1"
    assert len(odd.headers["x-request-id"]) == 16


async def test_metrics_tell_of_requests_pool_bulkhead_and_breaker(service: Any) -> None:
    await service.resource(1)
    text = (await service.person("alice").get("/metrics")).body.decode()
    assert 'reservation_requests_total{operation="createResource",status="201"} 1.0' in text
    for name in ("pool_in_use", "pool_open", "bulkhead_in_use", "bulkhead_permits", "breaker"):
        assert f"\nreservation_{name} " in text
    assert 'reservation_admissions_total{way="local-fallback"} 1.0' in text


async def test_the_document_describes_every_operation(service: Any) -> None:
    document = (await service.person("alice").get("/openapi.json")).json
    assert document["openapi"] == "3.1.0"
    place = document["paths"]["/api/resources/{id}/holds"]["post"]
    assert {"201", "400", "401", "404", "408", "409", "413", "422", "431", "500", "503"} == set(
        place["responses"]
    )
    assert "CAPACITY_EXHAUSTED" in place["responses"]["409"]["description"]


async def test_a_final_refusal_is_replayed_word_for_word_and_another_is_not_pinned(service: Any) -> None:
    room = await service.resource(0)
    alice = service.person("alice")
    refused = await alice.post(f"/api/resources/{room}/holds", {}, key="k")
    await service.admin.post(f"/api/resources/{room}/resize", {"capacity": 5})
    replayed = await alice.post(f"/api/resources/{room}/holds", {}, key="k")

    assert _told(refused) == (409, "CAPACITY_EXHAUSTED")
    assert replayed.body == refused.body
    assert (refused.headers["idempotency-replayed"], replayed.headers["idempotency-replayed"]) == (
        "false",
        "true",
    )
    missing = await alice.post(f"/api/resources/{room + 1}/holds", {}, key="m")
    assert _told(missing) == (404, "RESOURCE_NOT_FOUND")
    assert json.loads(missing.body)["message"] == REFUSALS["RESOURCE_NOT_FOUND"].sentence
    assert await service.resource(1) == room + 1
    assert (await alice.post(f"/api/resources/{room + 1}/holds", {}, key="m")).status == 201


async def test_even_what_nobody_foresaw_is_told_in_the_form_of_a_refusal(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Any) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr("service.health.Health._postgresql_answers", broken)
    assert _told(await service.person("alice").get("/health/ready")) == (500, "INTERNAL_ERROR")
