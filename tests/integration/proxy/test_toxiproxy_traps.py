"""What Toxiproxy 2.12 does though nobody would expect it, as the real server and the stand-in must both do it."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

import pytest

from chaos.network import NetworkError, Toxic

if TYPE_CHECKING:
    from chaos.network import Link, Network
    from tests.integration.proxy.conftest import Api, Client, Dialler, Upstream

HEARD_SECONDS = 1.0  # a connection that no toxic is on answers long before
MANY = 24  # that all of them draw the same lot twice is one chance in 16 million


async def heard(client: Client) -> bool:
    """Whether an echo comes back."""
    client.writer.write(b"x")
    return not await client.silent_for(HEARD_SECONDS)


async def drawn(clients: list[Client]) -> list[bool]:
    return await asyncio.gather(*(heard(client) for client in clients))


async def half(network: Network, link: Link, dial: Dialler) -> list[Client]:
    """Many connections, on about half of which a toxic that swallows all data has set to work."""
    clients = [await dial(link) for _ in range(MANY)]
    for client in clients:
        await client.echo(b"x")
    await network.add(link.name, Toxic(name="half", type="timeout", attributes={"timeout": 0}, toxicity=0.5))
    return clients


async def test_a_toxicity_is_drawn_once_a_connection(network: Network, link: Link, dial: Dialler) -> None:
    clients = await half(network, link, dial)
    first = await drawn(clients)
    assert set(first) == {True, False}
    assert await drawn(clients) == first


async def test_a_toxicity_is_drawn_again_when_its_toxic_changes(
    network: Network, link: Link, dial: Dialler, api: Api
) -> None:
    clients = await half(network, link, dial)
    first = await drawn(clients)
    assert (await api("PATCH", f"/proxies/{link.name}/toxics/half", {"attributes": {"timeout": 0}}))[0] == 200
    assert await drawn(clients) != first


async def test_a_toxicity_is_drawn_again_when_another_toxic_comes(
    network: Network, link: Link, dial: Dialler
) -> None:
    clients = await half(network, link, dial)
    first = await drawn(clients)
    await network.add(link.name, Toxic(name="other", type="latency", attributes={"latency": 1}))
    assert await drawn(clients) != first


async def ends(link: Link, dial: Dialler, upstream: Upstream) -> bytes:
    """Have the server close a connection on which all was well; return what the client reads then."""
    client = await dial(link)
    await client.echo(b"x")
    upstream.writers[-1].close()
    return await client.read()


async def test_reset_peer_without_toxicity_fires_on_nothing_and_resets_at_the_end_even_so(
    network: Network, link: Link, dial: Dialler, upstream: Upstream
) -> None:
    assert await ends(link, dial, upstream) == b""
    await network.add(link.name, Toxic(name="r", type="reset_peer", attributes={"timeout": 0}, toxicity=0.0))
    with pytest.raises(ConnectionResetError):
        await ends(link, dial, upstream)


@pytest.mark.parametrize("toxicity", [0.0, 0.1, 1 / 3, 1.0])
async def test_a_toxicity_is_kept(network: Network, link: Link, toxicity: float) -> None:
    await network.add(link.name, Toxic(name="t", type="latency", toxicity=toxicity))
    (toxic,) = (await network.links())[link.name].toxics
    assert toxic.toxicity == pytest.approx(toxicity, rel=1e-6)


async def test_a_toxicity_that_came_out_otherwise_is_refused_and_taken_off(
    network: Network, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As misspelt, it is taken with 200 and becomes 1."""
    sent = network._exchange

    def misspelt(verb: str, path: str, status: int, body: Any) -> bytes:
        if verb == "post":
            body = {"toxicty" if name == "toxicity" else name: value for name, value in body.items()}
        return sent(verb, path, status, body)

    monkeypatch.setattr(network, "_exchange", misspelt)
    with pytest.raises(NetworkError, match=r"toxicity=0\.25.* has .*toxicity=1\.0"):
        await network.add(link.name, Toxic(name="t", type="latency", toxicity=0.25))
    assert (await network.links())[link.name].toxics == ()


async def test_a_link_is_switched_in_the_way_that_is_not_deprecated(
    network: Network, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, verbs = network._exchange, []

    def noted(verb: str, path: str, status: int, body: Any) -> bytes:
        verbs.append((verb, path))
        return sent(verb, path, status, body)

    monkeypatch.setattr(network, "_exchange", noted)
    await network.cut(link.name)
    await network.restore(link.name)
    assert verbs == [("patch", f"/proxies/{link.name}")] * 2


async def test_a_status_that_the_library_lets_pass_is_an_error(network: Network, link: Link) -> None:
    with pytest.raises(NetworkError, match=r"POST /proxies at .* answered 500 instead of 201: .*in use"):
        await network.create(secrets.token_hex(4), link.upstream, listen=link.address)
