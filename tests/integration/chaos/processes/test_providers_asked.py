"""A provider of the lab as anybody may ask it: what it decided stays decided, and it kills nobody outside the lab."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from chaos.fault import Reach
from chaos.faults import ProviderFault, throughout
from chaos.nemesis import Nemesis
from chaos.parts import PartError
from chaos.providers import ledger
from chaos.providers.behaviour import Behaviour
from lastseat.providers import providing

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.lab import Lab
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


async def test_payments_are_tried_again_declined_and_looked_up(breakable: Lab, tmp_path: Path) -> None:
    async def spare(caller: str) -> str:
        raise PartError(f"{caller} is not to be killed")

    async with providing(breakable, "payment", tmp_path, spare) as desk:
        reach = Reach(providers={"payment": desk})

        async def charge(key: str) -> tuple[str, str]:
            return await ask(desk.address, "POST", "/node-a/charges", key)

        async def look_up(key: str) -> tuple[str, str]:
            return await ask(desk.address, "GET", f"/node-a/effects/{key}", "")

        again = ProviderFault("payment", "retry", times=1, path="charges")
        async with Nemesis([throughout(inject=again)], reach) as nemesis:
            assert await charge("pay-1") == ("503", '{"result":"failed","id":"pay-1"}')
            assert await look_up("pay-1") == ("404", '{"result":"unknown","id":"pay-1"}')
            assert await charge("pay-1") == ("200", '{"result":"accepted","id":"pay-1"}')
            assert await look_up("pay-1") == ("200", '{"result":"accepted","id":"pay-1"}')
        assert nemesis.records[0].proof == "requests that met it: 1"

        never = ProviderFault("payment", "decline", path="charges")
        async with Nemesis([throughout(inject=never)], reach) as nemesis:
            assert await charge("pay-1") == ("200", '{"result":"duplicate","id":"pay-1"}')
            assert await charge("pay-2") == ("422", '{"result":"declined","id":"pay-2"}')
        assert nemesis.records[0].proof == "requests that met it: 1"
        assert await charge("pay-2") == ("422", '{"result":"declined","id":"pay-2"}')
        assert await look_up("pay-2") == ("200", '{"result":"declined","id":"pay-2"}')
    assert [(entry.provider, entry.effect, entry.answer) for entry in ledger.read(desk.ledger)] == [
        ("payment", "pay-1", "failed"),
        ("payment", "pay-1", "accepted"),
        ("payment", "pay-1", "duplicate"),
        ("payment", "pay-2", "declined"),
        ("payment", "pay-2", "declined"),
    ]


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
