"""Races: everyone's request is worded, journaled and connected first; then all leave in one loop without a yield."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import gevent
from gevent import get_hub, getcurrent

from scenarios.chance import Shares, pick
from scenarios.habit import habits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scenarios.arrivals import Barrier
    from scenarios.dispatch.client import Client, Prepared
    from scenarios.plan import LoadPlan


def run_races(plan: LoadPlan, client: Client, stopped: Callable[[], bool]) -> None:
    """Play this shard's races, as many abreast as the barrier says; raises Unclassified, NotConnected, JournalFull."""
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
    connections = [client.warmed(buyer.node) for buyer in buyers]
    waiting = len(buyers)
    runner = getcurrent()

    def on_done() -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            runner.switch()

    intended_ns = time.monotonic_ns()
    exchanges = [client.invoke(buyer, intended_ns, on_done) for buyer in buyers]
    for connection, exchange in zip(connections, exchanges, strict=True):
        client.launch(connection, exchange)
    for connection, exchange in zip(connections, exchanges, strict=True):
        client.arm(connection, exchange)
    get_hub().switch()
    for buyer, connection, exchange in zip(buyers, connections, exchanges, strict=True):
        client.release(buyer.node, connection)
        client.settle(buyer, exchange)


def _one_by_one(client: Client, buyers: list[Prepared]) -> None:
    """Let each buyer wait for the answer of the one before: the same requests, and no race."""
    for buyer in buyers:
        client.exchange(buyer, time.monotonic_ns())
