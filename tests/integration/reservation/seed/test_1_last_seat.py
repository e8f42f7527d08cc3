"""마지막 한 자리에는 한 요청만 들어간다: one seat, ten buyers, one winner."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest


@pytest.mark.parametrize("expected_revision", [0, None], ids=["with a revision", "without"])
async def test_ten_buyers_of_one_seat_give_one_winner(service: Any, expected_revision: int | None) -> None:
    room = await service.resource(1)
    body = {} if expected_revision is None else {"expectedResourceRevision": expected_revision}

    responses = await asyncio.gather(
        *(
            service.person(f"owner-{caller}").post(f"/api/resources/{room}/holds", body, key=f"hold-{caller}")
            for caller in range(10)
        )
    )

    assert sum(response.status == 201 for response in responses) == 1
    assert sum(response.status != 201 for response in responses) == 9
    assert {r.json["code"] for r in responses if r.status != 201} == {"CAPACITY_EXHAUSTED"}
    snapshot = (await service.person("owner-0").get("/api/resources")).json["resources"][0]
    assert snapshot["occupiedCount"] == 1
    assert snapshot["availableCount"] == 0
    assert await service.sql.fetchval("SELECT count(*) FROM holds WHERE state = 'ACTIVE'") == 1
