"""What is no HTTP, is too long or never ends is refused in the service's own words, and whoever vanishes is no fault."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest

from service.errors import REFUSALS
from tests.integration.reservation.digest import digest
from tests.integration.reservation.people import TOKEN_SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

GET = "GET /api/resources HTTP/1.1\r\nHost: service\r\n"
NO_HTTP = [
    "\x00\x01\x02\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "GET nowhere HTTP/1.1\r\n\r\n",
    "CONNECT service:80 HTTP/1.1\r\n\r\n",
    GET + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    GET + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    GET + "Content-Length: -1\r\n\r\n",
    GET + "X-Null: a\x00b\r\n\r\n",
    "POST /api/resources/1/holds HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]
TOO_LONG = [
    GET + "X-Long: " + "y" * 300_000 + "\r\n\r\n",
    GET + "X-Many: y\r\n" * 20_000 + "\r\n",
    "GET /api/resources?" + "a" * 300_000 + " HTTP/1.1\r\n\r\n",
]


async def _said(service: Any, sent: str, *, and_then: bytes = b"") -> tuple[int, str | None]:
    """Send as it stands on a connection of its own; return what was answered until the node closed it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    try:
        async with asyncio.timeout(10):
            writer.write(sent.encode("latin-1") + and_then)
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    return int(head.split()[1]), json.loads(body).get("code") if body else None


def _hold(service: Any, room: int, *, key: str, length: int) -> str:
    token = service.person("alice").token
    return (
        f"POST /api/resources/{room}/holds HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer {token}\r\n"
        f"Idempotency-Key: {key}\r\nContent-Length: {length}\r\n\r\n"
    )


@pytest.mark.parametrize("sent", NO_HTTP)
async def test_what_is_no_http_is_refused_like_everything_else(service: Any, sent: str) -> None:
    assert await _said(service, sent) == (400, "MALFORMED_REQUEST")


@pytest.mark.parametrize("sent", TOO_LONG)
async def test_a_head_without_an_end_is_refused_before_it_fills_the_memory(service: Any, sent: str) -> None:
    assert await _said(service, sent) == (431, "HEAD_TOO_LARGE")


async def test_a_head_or_a_body_that_does_not_come_ends_the_connection(start: Callable[..., Any]) -> None:
    service = await start(request_seconds=0.3)
    room = await service.resource(1)
    before = await digest(service.sql)
    assert await _said(service, GET) == (408, "REQUEST_INCOMPLETE")
    assert await _said(service, _hold(service, room, key="k", length=9)) == (408, "REQUEST_INCOMPLETE")
    assert await digest(service.sql) == before


async def test_a_head_that_comes_in_pieces_is_read(service: Any) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    for piece in ("GET /health/li", "ve HTTP/1.1\r\nHo", "st: service\r\n", "\r\n"):
        writer.write(piece.encode())
        await asyncio.sleep(0.02)
    assert (await asyncio.wait_for(reader.readline(), 5)).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_nonsense_behind_a_hold_is_not_told_as_the_holds_own_answer(
    service: Any, sessions: Any, until: Callable[..., Any]
) -> None:
    """A 400 there would say of a hold that is being decided that it certainly had no effect."""
    room = await service.resource(1)
    blocker = await sessions.open()
    async with blocker.transaction():
        await blocker.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", room)
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        writer.write(_hold(service, room, key="k", length=0).encode())
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: service.sql.fetchval(waits), "the hold's wait")
        writer.write(b"\x00\r\n\r\n")
        read_on = asyncio.ensure_future(reader.read())
        await service.person("alice").get("/health/live")  # by then the nonsense has been read
    told = await asyncio.wait_for(read_on, 5)
    writer.close()
    assert told.startswith(b"HTTP/1.1 201 ")
    assert told.count(b"HTTP/1.1") == 1


async def test_a_client_that_vanishes_in_the_middle_of_its_body_is_no_failure_of_the_service(
    service: Any, caplog: pytest.LogCaptureFixture, until: Callable[..., Any]
) -> None:
    room = await service.resource(1)
    _, writer = await asyncio.open_connection("127.0.0.1", service.port)
    writer.write(_hold(service, room, key="k", length=9).encode() + b"{")
    writer.close()

    async def counted() -> bool:
        told = (await service.person("watcher").get("/metrics")).body.decode()
        assert 'status="500"' not in told
        return 'operation="placeHold",status="408"' in told

    with caplog.at_level(logging.ERROR):
        await until(counted, "the end of the request")
    assert caplog.records == []


async def test_a_key_that_is_given_twice_is_none(service: Any) -> None:
    room = await service.resource(1)
    sent = _hold(service, room, key="one", length=0).replace("\r\n\r\n", "\r\nIdempotency-Key: two\r\n")
    assert await _said(service, f"{sent}Connection: close\r\n\r\n") == (400, "IDEMPOTENCY_KEY_INVALID")


async def test_a_query_that_an_operation_does_not_take_is_refused_as_the_document_says(service: Any) -> None:
    room = await service.resource(1)
    answer = await service.person("alice").get(f"/api/resources/{room}?page=2")
    document = (await service.person("alice").get("/openapi.json")).json
    told = document["paths"]["/api/resources/{id}"]["get"]["responses"]["400"]["description"]
    assert (answer.status, answer.json["code"]) == (400, "INVALID_QUERY")
    assert "INVALID_QUERY" in told


@pytest.mark.parametrize("request_kind", ["hold", "read", "body"])
async def test_what_the_nodes_end_cuts_off_is_told_so(
    start: Callable[..., Any], sessions: Any, until: Callable[..., Any], request_kind: str
) -> None:
    service = await start(lock_timeout_ms=10_000, statement_timeout_ms=10_000, command_timeout_ms=10_000)
    room, blocker = await service.resource(1), await sessions.open()
    alice = service.person("alice")
    async with blocker.transaction():
        await blocker.execute("LOCK TABLE resources IN ACCESS EXCLUSIVE MODE")
        path, headers = f"/api/resources/{room}", {"Idempotency-Key": "k", "Content-Length": "2"}
        asking = asyncio.ensure_future(
            {
                "hold": lambda: alice.post(f"{path}/holds", {}),
                "read": lambda: alice.get(path),
                "body": lambda: alice.send("POST", f"{path}/holds", b"", headers),
            }[request_kind]()
        )
        if request_kind == "body":
            await until(lambda: service.node.server_state.tasks, "the request")
        else:
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            await until(lambda: service.sql.fetchval(waits), "the wait for the table")
        service.node.should_exit = True
        answer = await asking
    expected = {"hold": "OUTCOME_UNKNOWN", "read": "DATABASE_BUSY", "body": "REQUEST_INCOMPLETE"}
    assert answer.json["code"] == expected[request_kind]
    assert answer.status == REFUSALS[answer.json["code"]].status


def _signed(payload: str) -> str:
    """A token of ours over claims that no careful issuer would write."""
    head, _, _ = jwt.encode({}, TOKEN_SECRET, algorithm="HS256").split(".")
    signing = f"{head}.{base64.urlsafe_b64encode(payload.encode()).rstrip(b'=').decode()}"
    algorithm = jwt.get_algorithm_by_name("HS256")
    signature = algorithm.sign(signing.encode(), algorithm.prepare_key(TOKEN_SECRET))
    return f"{signing}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


ODD_CLAIMS = {
    "half a surrogate pair": '{"sub": "\\ud800", "tenant": "demo", "exp": 4000000000}',
    "a number beyond floats": '{"sub": "alice", "tenant": "demo", "exp": 1' + "0" * 400 + "}",
    "infinity": '{"sub": "alice", "tenant": "demo", "exp": 1e999}',
    "a list for a time": '{"sub": "alice", "tenant": "demo", "exp": [1]}',
    "no object": "[]",
    "a deep nest": "[" * 4_000,
}


@pytest.mark.parametrize("claims", ODD_CLAIMS)
async def test_a_token_of_odd_claims_is_nobodys(service: Any, claims: str) -> None:
    sane = _signed(json.dumps({"sub": "alice", "tenant": "demo", "exp": time.time() + 60}))
    alice = service.person("alice")
    assert (await alice.get("/api/resources", Authorization=f"Bearer {sane}")).status == 200
    answer = await alice.get("/api/resources", Authorization=f"Bearer {_signed(ODD_CLAIMS[claims])}")
    assert (answer.status, answer.json["code"]) == (401, "UNAUTHENTICATED")
