"""Redis가 없어도 PostgreSQL API는 기동한다: the API boots and decides where Redis cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


async def test_a_node_boots_and_answers_where_redis_cannot_be_reached(start: Callable[..., Any]) -> None:
    service = await start(redis_enabled=True, redis_url="redis://127.0.0.1:1")
    created = await service.admin.post("/api/resources", {"code": "demo-room-utc", "capacity": 1})

    response = await service.person("alice").get("/api/resources")

    assert response.status == 200
    assert response.json["resources"][0]["code"] == "demo-room-utc"
    assert created.headers["admission"] == "local-fallback"
