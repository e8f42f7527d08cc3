"""A provider of the lab as anybody may ask it: what it declined stays declined, and it kills nobody outside the lab."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from chaos.parts import PartError
from chaos.providers.behaviour import Behaviour

if TYPE_CHECKING:
    from lastseat.nodes import Deployment


async def test_a_declined_id_stays_declined(service: Deployment) -> None:
    desk = service.providers["notification"]
    await desk.behave(Behaviour(does="decline", path="charges"))
    assert await ask(desk.address, "POST", "/worker-x/charges", "pay-1") == (
        "422",
        '{"result":"declined","id":"pay-1"}',
    )
    assert await ask(desk.address, "POST", "/worker-x/refunds", "pay-2") == (
        "200",
        '{"result":"accepted","id":"pay-2"}',
    )
    await desk.behave(Behaviour())
    assert await ask(desk.address, "POST", "/worker-x/charges", "pay-1") == (
        "422",
        '{"result":"declined","id":"pay-1"}',
    )
    assert await ask(desk.address, "GET", "/worker-x/effects/pay-1", "") == (
        "200",
        '{"result":"declined","id":"pay-1"}',
    )
    assert await ask(desk.address, "GET", "/worker-x/effects/pay-3", "") == (
        "404",
        '{"result":"unknown","id":"pay-3"}',
    )
    assert await ask(desk.address, "POST", "/worker-x/charges", "") == (
        "400",
        '{"result":"malformed","id":""}',
    )


async def test_nobody_outside_the_lab_is_killed(service: Deployment) -> None:
    desk = service.providers["notification"]
    with pytest.raises(PartError, match="no process of the lab is called 'init'"):
        await desk.kill("init")
    await desk.behave(Behaviour(does="kill_caller"))
    assert await ask(desk.address, "POST", "/init/x", "kill-init") == ("", "")
    met = await desk.behave(Behaviour())
    assert met.killed == ("init was not killed: no process of the lab is called 'init'",)


async def ask(address: tuple[str, int], method: str, path: str, key: str) -> tuple[str, str]:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(f"{method} {path} HTTP/1.1\r\nIdempotency-Key: {key}\r\nContent-Length: 0\r\n\r\n".encode())
    async with asyncio.timeout(10):
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return (head.split(" ")[1] if head else ""), body
