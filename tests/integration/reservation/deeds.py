"""What people do in many tests, and what is looked at afterwards."""

from __future__ import annotations

from typing import Any


async def held(service: Any, room: int, owner: str = "alice", **body: Any) -> int:
    answer = await service.person(owner).post(f"/api/resources/{room}/holds", body)
    assert answer.status == 201, answer.body
    return int(answer.json["id"])


async def joined(service: Any, room: int, owner: str) -> int:
    answer = await service.person(owner).post(f"/api/resources/{room}/waitlist")
    assert answer.status == 201, answer.body
    return int(answer.json["id"])


async def offered(service: Any, room: int) -> int:
    """Give bob an offer of the room's only seat; return the offer."""
    hold = await held(service, room)
    entry = await joined(service, room, "bob")
    await service.person("alice").post(f"/api/holds/{hold}/cancel", {})
    return int((await service.person("bob").get(f"/api/waitlist/{entry}")).json["offerId"])


async def counted(service: Any, room: int) -> tuple[int, int]:
    row = await service.row("resources", room)
    return row["occupied_count"], row["revision"]


def told(answer: Any) -> tuple[int, str]:
    return answer.status, answer.json.get("code")
