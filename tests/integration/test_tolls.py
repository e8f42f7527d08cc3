"""What a proxied link costs is measured before anything is broken, and told only where it could be."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from chaos.network import Network, Toxic
from lastseat.tolls import TRIES, tolls

if TYPE_CHECKING:
    from lastseat.lab import Lab


async def test_a_link_costs_what_it_adds_to_the_way_straight(lab: Lab) -> None:
    network = Network(lab.toxiproxy.host, lab.toxiproxy.port)
    there = urlsplit(lab.redis_url)
    link = await network.create("redis-toll", f"{there.hostname}:{there.port}")
    try:
        await network.add("redis-toll", Toxic(name="slow", type="latency", attributes={"latency": 40}))
        toll = (await tolls({"redis-a": link}))["redis-a"]
    finally:
        await network.delete("redis-toll")
    assert toll.through_seconds is not None
    assert toll.straight_seconds is not None
    assert toll.through_seconds >= 0.039 > toll.straight_seconds > 0
    assert str(toll).endswith(f"ms straight (medians of {TRIES})")


async def test_nothing_is_told_of_a_link_behind_which_nobody_answers(lab: Lab) -> None:
    network = Network(lab.toxiproxy.host, lab.toxiproxy.port)
    link = await network.create("redis-nowhere", f"127.0.0.1:{lab.free_port()}")
    try:
        toll = (await tolls({"redis-a": link}))["redis-a"]
    finally:
        await network.delete("redis-nowhere")
    assert str(toll) == "what it costs could not be measured"
