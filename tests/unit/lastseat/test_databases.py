"""A server that says nothing is called silent, and not left out of the sentence."""

from __future__ import annotations

import asyncio

import pytest

from lastseat import databases
from lastseat.errors import LabError


async def test_a_server_that_does_not_answer_is_said_to_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "ANSWER_SECONDS", 0.2)

    async def silence(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)
        writer.close()

    server = await asyncio.start_server(silence, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        with pytest.raises(LabError, match=r"does not let the lab in: no answer within 0\.2 s"):
            await databases.drop(f"postgresql://u@{host}:{port}/postgres", "sale")
    finally:
        server.close()
