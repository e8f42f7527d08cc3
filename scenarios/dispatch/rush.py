"""The open loop: buyers come when the schedule says, whether or not those before them have been served."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import gevent
from gevent.pool import Pool
from msgspec import structs

from scenarios.chance import Shares, draw, pick
from scenarios.dispatch.alarm import Alarm
from scenarios.habit import habits

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios.arrivals import Arrival
    from scenarios.dispatch.client import Client, Prepared
    from scenarios.habit import Answer
    from scenarios.plan import LoadPlan
    from scenarios.targets.target import Value


class Rush:
    """Plays this shard's open-loop arrivals; at `buyers_max` an arrival is counted as dropped, never forgotten."""

    __slots__ = ("_client", "_failed", "_habits", "_plan", "_t0_ns")

    def __init__(self, plan: LoadPlan, client: Client, t0_ns: int) -> None:
        self._plan = plan
        self._client = client
        self._t0_ns = t0_ns
        self._habits = Shares(plan.habits)
        self._failed: BaseException | None = None

    def run(self, stopped: Callable[[], bool]) -> None:
        """Spawn buyers until the schedule ends and wait for the last; raises what stopped a buyer."""
        alarm, pool = Alarm(), Pool(self._plan.buyers_max)
        try:
            for arrival in self._plan.schedule.arrivals(
                self._plan.seed, shard=self._plan.shard, shards=self._plan.shards
            ):
                alarm.until(self._t0_ns + arrival.at_ns)
                if stopped() or self._failed is not None:
                    break
                self._client.arrivals += 1
                if pool.free_count() > 0:
                    pool.spawn(self._play, arrival).link_exception(self._note)
                else:
                    self._client.dropped += 1
            pool.join()
        finally:
            alarm.close()
        if self._failed is not None:
            raise self._failed

    def _play(self, arrival: Arrival) -> None:
        habit = habits()[self._habits.drawn(self._plan.seed, arrival.id, "habit")]
        buyer = _Buyer(self._plan, self._client, arrival.id)
        answer = buyer.arrive(habit.opening, self._t0_ns + arrival.at_ns)
        if habit.then is not None:
            habit.then(buyer, answer)

    def _note(self, buyer: gevent.Greenlet) -> None:
        self._failed = self._failed or buyer.exception


class _Buyer:
    """One customer in this process (scenarios.habit.Buyer); follow-ups are intended when they are sent."""

    __slots__ = ("_acts", "_arrival", "_client", "_last", "_node", "_person", "_plan", "_values")

    def __init__(self, plan: LoadPlan, client: Client, arrival: int) -> None:
        self._plan = plan
        self._client = client
        self._arrival = arrival
        self._acts = 0
        self._node = pick(plan.seed, arrival, "node", len(plan.nodes))
        self._person = pick(plan.seed, arrival, "person", len(plan.stage.actors))
        wanted = pick(plan.seed, arrival, "resource", len(plan.stage.resources))
        self._values = plan.stage.resources[wanted].values
        self._last: Prepared | None = None

    def arrive(self, action: str, intended_ns: int) -> Answer:
        return self._send(self._worded(action, {}), intended_ns)

    def act(self, action: str, **values: Value) -> Answer:
        return self._send(self._worded(action, values), time.monotonic_ns())

    def repeat(self) -> Answer:
        if self._last is None:
            raise RuntimeError("a buyer repeats only what was sent before")
        return self._send(structs.replace(self._last, attempt=self._last.attempt + 1), time.monotonic_ns())

    def pause(self, seconds: float) -> None:
        gevent.sleep(seconds)

    def chance(self, purpose: str) -> float:
        return draw(self._plan.seed, self._arrival, purpose)

    def _worded(self, action: str, values: dict[str, Value]) -> Prepared:
        self._acts += 1
        return self._client.prepare(
            action,
            node=self._node,
            actor=self._plan.stage.actors[self._person],
            values={**self._values, **values},
            key=f"{self._plan.run}-{self._arrival}-{self._acts}",
            arrival=self._arrival,
        )

    def _send(self, prepared: Prepared, intended_ns: int) -> Answer:
        self._last = prepared
        return self._client.exchange(prepared, intended_ns)
