"""A node as a process: it migrates, boots whatever is away, tells what it misses, and ends cleanly."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastseat.lab import Lab

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


async def _spawn(lab: Lab, person: Callable[..., Any], database_url: str) -> tuple[Any, Any]:
    port = lab.free_port()
    environment = {
        "RESERVATION_DATABASE_URL": database_url,
        "RESERVATION_REDIS_URL": "redis://127.0.0.1:1",
        "RESERVATION_TOKEN_SECRET": "t" * 32,
        "RESERVATION_OWNER_SECRET": "o" * 32,
    }
    argv = [sys.executable, "-m", "service.node", "--host", "127.0.0.1", "--port", str(port)]
    child = await lab.spawn(f"node-{port}", argv, env=environment)
    visitor = person(port, "root", role="admin")
    async with asyncio.timeout(15):
        while True:
            try:
                if (await visitor.get("/health/live")).status == 200:
                    return child, visitor
            except ConnectionError:
                assert not child.exited, child.log.read_text()
                await asyncio.sleep(0.02)


async def test_a_node_serves_what_migrate_prepared_and_ends_with_code_0(
    lab: Lab, database: str, person: Callable[..., Any]
) -> None:
    argv = [sys.executable, "-m", "service.migrate", "--database-url", database]
    for told in (b"applied 0001_reservation\n", b"already at the newest version\n"):
        process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        assert process.returncode == 0
        assert out.startswith(told)

    child, visitor = await _spawn(lab, person, database)
    ready = await visitor.get("/health/ready")
    assert (ready.status, ready.json) == (200, {"status": "up", "postgresql": "up", "redis": "down"})
    created = await visitor.post("/api/resources", {"code": "hall", "capacity": 3})
    assert created.status == 201

    assert await child.terminate() == 0
    assert '"message":"Finished server process' in child.log.read_text()


async def test_a_node_lives_without_a_database_and_says_that_it_is_not_ready(
    lab: Lab, person: Callable[..., Any]
) -> None:
    child, visitor = await _spawn(lab, person, NOWHERE)

    ready = await visitor.get("/health/ready")
    assert (ready.status, ready.json["postgresql"]) == (503, "down")
    answer = await visitor.post("/api/resources", {"code": "hall", "capacity": 3})
    assert (answer.status, answer.json["code"]) == (503, "DATABASE_UNAVAILABLE")

    await child.terminate()


async def test_a_node_that_cannot_work_says_in_one_line_what_to_mend() -> None:
    secrets = {"RESERVATION_TOKEN_SECRET": "t" * 32, "RESERVATION_OWNER_SECRET": "o" * 32}
    trusting = {"RESERVATION_DATABASE_URL": NOWHERE, "RESERVATION_TRUST_OWNER_HEADER": "true"}
    told = {
        "RESERVATION_DATABASE_URL is not set": secrets,
        "RESERVATION_TRUST_OWNER_HEADER is for loopback binds only": secrets | trusting,
    }
    for sentence, environment in told.items():
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "service.node",
            "--host",
            "0.0.0.0",
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await process.communicate()
        assert (process.returncode, errors.decode()) == (2, f"service.node: {sentence}\n")
