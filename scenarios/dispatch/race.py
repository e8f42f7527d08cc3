"""Races: everyone's request is worded, journaled and connected first; then all leave in one loop without a yield."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import gevent
from gevent import get_hub, getcurrent

from scenarios.chance import Shares, pick
from scenarios.dispatch.connection import NotConnected
from scenarios.habit import habits
from scenarios.journal import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scenarios.arrivals import Barrier
    from scenarios.dispatch.client import Client, Prepared
    from scenarios.dispatch.connection import Connection
    from scenarios.plan import LoadPlan


def run_races(plan: LoadPlan, client: Client, stopped: Callable[[], bool]) -> None:
    """Play this shard's races, as many abreast as the barrier says; raises Unclassified, JournalFull."""
    first = arrived = 0
    for barrier in plan.schedule.barriers():
        course = _Course(plan, client, barrier, first, arrived)
        mine = (n for n in range(barrier.races) if (first + n) % plan.shards == plan.shard and not stopped())
        lanes = [gevent.spawn(course.run, mine) for _ in range(barrier.abreast)]
        gevent.joinall(lanes, raise_error=True)
        first += barrier.races
        arrived += barrier.races * barrier.width


class _Course:
    """The races of one barrier; `first` is the global number of its first race, `arrived` of that race's first arrival."""

    __slots__ = ("_arrived", "_barrier", "_client", "_first", "_openings", "_plan")

    def __init__(self, plan: LoadPlan, client: Client, barrier: Barrier, first: int, arrived: int) -> None:
        self._plan = plan
        self._client = client
        self._barrier = barrier
        self._first = first
        self._arrived = arrived
        self._openings = [habits()[name].opening for name in Shares(plan.habits).dealt(barrier.races)]

    def run(self, numbers: Iterator[int]) -> None:
        """Play one race after the other, of those that no other lane has taken."""
        play = _one_by_one if self._barrier.apart else _together
        for number in numbers:
            self._client.arrivals += self._barrier.width
            play(self._client, list(self._line_up(number, self._openings[number])))
            self._client.through += self._barrier.width

    def _line_up(self, number: int, action: str) -> Iterator[Prepared]:
        """Word every buyer's request; who leaves first, and so which node is asked first, changes from race to race."""
        plan, width, race = self._plan, self._barrier.width, self._first + number
        turn = pick(plan.seed, race, "first off", width)
        for place in range(width):
            lane = (place + turn) % width
            arrival = self._arrived + number * width + lane
            yield self._client.prepare(
                action,
                node=lane % len(plan.nodes),
                actor=plan.stage.actors[arrival % len(plan.stage.actors)],
                values=plan.stage.resources[race].values,
                key=f"{plan.run}-{arrival}-1",
                arrival=arrival,
                race=race,
            )


def _together(client: Client, buyers: list[Prepared]) -> None:
    """Let all leave in one loop who have a way to their node; whoever has none sends nothing, and that is how it ends."""
    ways = _ways(client, [buyer.node for buyer in buyers])
    waiting = sum(not isinstance(way, NotConnected) for way in ways)
    runner = getcurrent()

    def on_done() -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            runner.switch()

    intended_ns = time.monotonic_ns()
    exchanges = [
        # Whoever has no way was turned back when the way failed, be it before others were waited for.
        client.invoke(buyer, way.at_ns if isinstance(way, NotConnected) else intended_ns, on_done)
        for buyer, way in zip(buyers, ways, strict=True)
    ]
    off = [
        (way, each) for way, each in zip(ways, exchanges, strict=True) if not isinstance(way, NotConnected)
    ]
    for connection, exchange in off:
        client.launch(connection, exchange)
    for connection, exchange in off:
        client.arm(connection, exchange)
    if off:
        get_hub().switch()
    for buyer, way, exchange in zip(buyers, ways, exchanges, strict=True):
        if isinstance(way, NotConnected):
            exchange.fall(way.failure, way.at_ns)
        else:
            client.release(buyer.node, way)
        client.settle(buyer, exchange)


def _ways(client: Client, nodes: Sequence[int]) -> list[Connection | NotConnected]:
    """Return a connection that has had an answer for each, or why there is none; a node is waited for once a race."""
    ways: list[Connection | NotConnected] = []
    away: dict[int, NotConnected] = {}
    for node in nodes:
        try:
            ways.append(away[node] if node in away else client.warmed(node))
        except NotConnected as reason:
            away[node] = reason
            ways.append(reason)
    # One that was had first may have ended while another was waited for.
    return [
        NotConnected(Failure.EOF, f"{way.node.label} has ended the connection", at_ns=way.ended_ns)
        if not isinstance(way, NotConnected) and way.dead
        else way
        for way in ways
    ]


def _one_by_one(client: Client, buyers: list[Prepared]) -> None:
    """Let each buyer wait for the answer of the one before: the same requests, and no race."""
    for buyer in buyers:
        client.exchange(buyer, time.monotonic_ns())
