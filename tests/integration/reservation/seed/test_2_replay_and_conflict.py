"""같은 명령은 재생하고, 같은 key의 다른 명령은 거부한다: a command is replayed, another under its key refused."""

from __future__ import annotations

from typing import Any


async def test_the_same_command_is_replayed_and_another_under_its_key_refused(service: Any) -> None:
    room = await service.resource(5)
    alice = service.person("alice")
    path = f"/api/resources/{room}/holds"

    first = await alice.post(path, {"expectedResourceRevision": 0}, key="hold-42")
    assert first.status == 201
    assert first.headers["idempotency-replayed"] == "false"

    retry = await alice.post(path, {"expectedResourceRevision": 0}, key="hold-42")
    assert retry.status == 201
    assert retry.headers["idempotency-replayed"] == "true"
    assert retry.body == first.body

    conflict = await alice.post(path, {"expectedResourceRevision": 1}, key="hold-42")
    assert conflict.status == 409
    assert conflict.json["code"] == "IDEMPOTENCY_FINGERPRINT_CONFLICT"

    assert await service.sql.fetchval("SELECT count(*) FROM holds") == 1


async def test_the_same_key_of_another_owner_is_another_command(service: Any) -> None:
    room = await service.resource(5)
    await service.person("alice").post(f"/api/resources/{room}/holds", {}, key="hold-42")

    answer = await service.person("bob").post(f"/api/resources/{room}/holds", {}, key="hold-42")

    assert answer.status == 409
    assert answer.json["code"] == "IDEMPOTENCY_FINGERPRINT_CONFLICT"


async def test_the_same_key_of_another_tenant_or_operation_is_another_key(service: Any) -> None:
    room = await service.resource(5)
    first = await service.person("alice").post(f"/api/resources/{room}/holds", {}, key="one-key")
    other_admin = service.person("root", tenant="other", role="admin")

    elsewhere = await other_admin.post("/api/resources", {"code": "hall", "capacity": 1}, key="one-key")
    abroad = await service.person("alice", tenant="other").post(
        f"/api/resources/{elsewhere.json['id']}/holds", {}, key="one-key"
    )

    assert [first.status, elsewhere.status, abroad.status] == [201, 201, 201]
    assert abroad.json["id"] != first.json["id"]
