"""What a running lab gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import redis.asyncio as redis

from lastseat.toxiproxy import version_at

if TYPE_CHECKING:
    from lastseat.lab import Lab


async def test_postgres_records_everything_the_trail_needs(database: str) -> None:
    session = await asyncpg.connect(database)
    try:
        settings = {
            name: await session.fetchval("SELECT current_setting($1)", name)
            for name in ("wal_level", "track_commit_timestamp", "fsync", "TimeZone", "listen_addresses")
        }
    finally:
        await session.close()
    assert settings == {
        "wal_level": "logical",
        "track_commit_timestamp": "on",
        "fsync": "on",
        "TimeZone": "UTC",
        "listen_addresses": "127.0.0.1",
    }


async def test_valkey_answers_only_with_its_password(lab: Lab, redis_url: str) -> None:
    async with redis.from_url(redis_url) as client:
        assert await client.set("seat", "1")
        assert await client.get("seat") == b"1"
    async with redis.Redis(host=lab.valkey.host, port=lab.valkey.port) as stranger:
        try:
            await stranger.ping()
        except redis.AuthenticationError:
            return
    raise AssertionError("Valkey let a stranger in")


async def test_the_proxy_server_answers_and_says_what_it_is(lab: Lab) -> None:
    assert version_at(lab.toxiproxy.host, lab.toxiproxy.port)
    assert lab.toxiproxy.kind.startswith("toxiproxy") == (lab.toxiproxy.notice == "")
