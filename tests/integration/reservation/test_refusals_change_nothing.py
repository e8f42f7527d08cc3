"""Whatever is not a request is refused with a 4xx and a code at every operation, and the whole database stays as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from service.errors import REFUSALS
from service.reservation import routes
from tests.integration.reservation.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from service.web import Operation

KEY: Final = {"Idempotency-Key": "one"}
OTHER_METHODS: Final = ("DELETE", "PUT", "PATCH", "OPTIONS", "TRACE")
NOT_A_BODY: Final[list[bytes]] = [
    b"{",
    b"nothing",
    b"\xff\xfe\x00",
    b'{"a": 1}{"b": 2}',
    b"{'a': 1}",
    b'{"a": NaN}',
    b"[]",
    b"null",
    b"1",
    b'"{}"',
    b'{"": 1}',
    b'{"nobodyKnowsThis": 1}',
    b'{"__proto__": {}}',
    b'{"expected_revision": 1}',
    b'{"\\u0000": 1}',
    b'{"a":' + b"[" * 5_000,
    b"[" * 16_000,
    b" " * 16_385,
    b'{"x": "' + b"y" * 100_000 + b'"}',
]
WRONG_VALUES: Final[list[Any]] = [
    "1", "", -1, 1.5, True, [], {}, [1], {"a": 1}, 10**30, -(10**30), 2**53 + 1, 2**63, 1e400, "\x00", "x" * 200,
]  # fmt: skip
FIELDS: Final = {
    "createResource": ("code", "capacity", "holdSeconds", "offerSeconds", "perOwnerLimit"),
    "resizeResource": ("capacity",),
    "changePolicy": ("holdSeconds", "offerSeconds", "perOwnerLimit"),
    "placeHold": ("expectedResourceRevision", "quantity"),
    "confirmHold": ("expectedRevision",),
    "cancelHold": ("expectedRevision",),
    "acceptOffer": ("expectedRevision",),
    "declineOffer": ("expectedRevision",),
}
# Of the values above, what is right for a field after all.
RIGHT: Final = {
    "code": ("1", "x" * 200),
    "holdSeconds": (1.5,),
    "offerSeconds": (1.5,),
}
NOT_A_KEY: Final[tuple[dict[str, str], ...]] = (
    {},
    {"Idempotency-Key": " "},
    {"Idempotency-Key": "k" * 256},
    {"Idempotency-Key": "a\tb"},
)
NOT_AN_ID: Final = (
    "-1",
    "0x1",
    "1.0",
    "1e3",
    "null",
    "%00",
    "%F0%9F%8E%AB",
    "9" * 19,
    "9" * 4_000,
    "1%2F2",
    "' OR 1=1",
)


@pytest.fixture
async def furnished(service: Any) -> Any:
    """A node with one of everything, ids all 1."""
    room, alice = await service.resource(2), service.person("alice")
    assert (await alice.post(f"/api/resources/{room}/holds", {"quantity": 2})).status == 201
    entry = (await service.person("bob").post(f"/api/resources/{room}/waitlist")).json["id"]
    assert (await alice.post("/api/holds/1/cancel")).status == 200
    hold = (await alice.post(f"/api/resources/{room}/holds", {})).json["id"]
    assert (await alice.post(f"/api/holds/{hold}/confirm")).status == 201
    assert (room, entry, hold) == (1, 1, 2)
    return service


def _operations(service: Any) -> list[Operation]:
    return routes.table(service.pool, service.settings)


def _path(operation: Operation, row: str = "1") -> str:
    return operation.path.replace("{id}", row)


def _wrong_bodies(operation: Operation) -> Iterator[bytes]:
    yield from NOT_A_BODY
    whole = {"code": "right", "capacity": 1} if operation.name == "createResource" else {}
    for field in FIELDS.get(operation.name, ()):
        for value in WRONG_VALUES:
            if not any(value is right or value == right for right in RIGHT.get(field, ())):
                yield json.dumps(whole | {field: value}).encode()
    if operation.name in {"createResource", "resizeResource"}:
        yield b"{}"


def _refused(answer: Any, case: object) -> str:
    assert 400 <= answer.status < 500, (case, answer)
    code = str(answer.json["code"])
    assert REFUSALS[code].status == answer.status, (case, answer)
    assert set(answer.json) <= {"code", "message", "retryAfterMs"}, (case, answer)
    return code


async def test_a_body_that_is_none_changes_nothing_anywhere(furnished: Any) -> None:
    root, before, codes = furnished.admin, await digest(furnished.sql), set()
    for operation in _operations(furnished):
        if operation.command:
            for body in _wrong_bodies(operation):
                answer = await root.send("POST", _path(operation), body, KEY)
                codes.add(_refused(answer, (operation.name, body[:80])))
    assert codes == {"MALFORMED_JSON", "INVALID_BODY", "PAYLOAD_TOO_LARGE"}
    assert await digest(furnished.sql) == before


async def test_a_command_without_a_proper_key_or_token_changes_nothing_anywhere(furnished: Any) -> None:
    root, alice, before, codes = (
        furnished.admin,
        furnished.person("alice"),
        await digest(furnished.sql),
        set(),
    )
    for operation in _operations(furnished):
        path, method = _path(operation), operation.method
        if operation.command:
            for headers in NOT_A_KEY:
                codes.add(_refused(await root.send(method, path, b"{}", headers), (path, headers)))
        if operation.admin:
            codes.add(_refused(await alice.send(method, path, b"{}", KEY), path))
        for token in ("", "Basic cm9vdDpyb290", "Bearer", "Bearer x.y.z", f"bearer  {root.token}x"):
            answer = await root.send(method, path, b"{}", KEY | {"Authorization": token})
            codes.add(_refused(answer, (path, token)))
    assert codes == {"IDEMPOTENCY_KEY_REQUIRED", "IDEMPOTENCY_KEY_INVALID", "UNAUTHENTICATED", "FORBIDDEN"}
    assert await digest(furnished.sql) == before


async def test_another_method_or_an_id_that_is_none_changes_nothing_anywhere(furnished: Any) -> None:
    root, before, codes = furnished.admin, await digest(furnished.sql), set()
    operations = _operations(furnished)
    taken = {(operation.method, operation.path) for operation in operations}
    for operation in operations:
        for method in (*OTHER_METHODS, "GET", "POST"):
            if (method, operation.path) not in taken:
                answer = await root.send(method, _path(operation), b"{}", KEY)
                codes.add(_refused(answer, (method, operation.path)))
        if "{id}" in operation.path:
            for row in NOT_AN_ID:
                path = _path(operation, row.replace(" ", "%20"))
                codes.add(_refused(await root.send(operation.method, path, b"{}", KEY), path[:80]))
    kinds = {operation.missing.code for operation in operations if "{id}" in operation.path}
    assert codes == {"METHOD_NOT_ALLOWED", "NOT_FOUND"} | kinds
    assert await digest(furnished.sql) == before


async def test_another_tenants_row_is_answered_like_one_that_is_not_there(furnished: Any) -> None:
    """Word for word, at every operation, for its owner's namesake and for who administers the other tenant."""
    before = await digest(furnished.sql)
    for abroad in (
        furnished.person("alice", tenant="other"),
        furnished.person("root", tenant="other", role="admin"),
    ):
        for operation in _operations(furnished):
            if "{id}" not in operation.path:
                continue
            body = b'{"capacity": 9}' if operation.name == "resizeResource" else b"{}"
            told = [
                await abroad.send(
                    operation.method, _path(operation, row), body, {"Idempotency-Key": f"{abroad.role}{row}"}
                )
                for row in ("1", "777")
            ]
            assert told[0].status in {403, 404}, operation.name
            assert (told[0].status, told[0].body) == (told[1].status, told[1].body), operation.name
    assert (await abroad.get("/api/resources")).json["resources"] == []
    after = await digest(furnished.sql)
    assert {name for name in after if after[name] != before[name]} <= {"idempotency_records"}


async def test_a_key_is_its_tenants_own_and_its_answer_its_owners(furnished: Any) -> None:
    alice = furnished.person("alice")
    answer = await alice.post("/api/resources/1/holds", {}, key="shared")
    foreign = await furnished.person("alice", tenant="other").post("/api/resources/1/holds", {}, key="shared")
    assert (foreign.status, foreign.json["code"]) == (404, "RESOURCE_NOT_FOUND")
    for path, key in (("/api/resources/1/holds", "shared"), ("/api/resources/1/waitlist", "line")):
        if key == "line":
            await alice.post(path, {}, key=key)
        stolen = await furnished.person("bob").post(path, {}, key=key)
        assert (stolen.status, stolen.json["code"]) == (409, "IDEMPOTENCY_FINGERPRINT_CONFLICT")
        assert set(stolen.json) == {"code", "message"}
    assert (await alice.post("/api/resources/1/holds", {}, key="shared")).body == answer.body
