"""The open loop: buyers come when the schedule says, whether or not those before them have been served."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import gevent
from gevent.pool import Pool

from scenarios.chance import Shares, draw, pick
from scenarios.dispatch.alarm import Alarm
from scenarios.habit import habits

if TYPE_CHECKING:
    from collections.abc import Callable

    from scenarios.arrivals import Arrival
    from scenarios.dispatch.client import Client
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
                    self._client.through += 1
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
        self._client.through += 1

    def _note(self, buyer: gevent.Greenlet) -> None:
        self._failed = self._failed or buyer.exception


class _Buyer:
    """One customer in this process (scenarios.habit.Buyer); follow-ups are intended when they are sent."""

    __slots__ = ("_acts", "_arrival", "_client", "_last", "_mark", "_node", "_person", "_plan", "_values")

    def __init__(self, plan: LoadPlan, client: Client, arrival: int, *, strangeness: int = 0) -> None:
        self._plan = plan
        self._client = client
        self._arrival = arrival
        self._acts = 0
        self._mark = f"{plan.run}-{arrival}-" + "s" * strangeness
        self._node = pick(plan.seed, arrival, "node", len(plan.nodes))
        person = pick(plan.seed, arrival, "person", len(plan.stage.actors))
        self._person = (person + strangeness) % len(plan.stage.actors)
        wanted = pick(plan.seed, arrival, "resource", len(plan.stage.resources))
        self._values = plan.stage.resources[wanted].values
        self._last: _Said | None = None

    @property
    def name(self) -> str:
        return self._plan.stage.actors[self._person].owner

    def arrive(self, action: str, intended_ns: int) -> Answer:
        return self._send(_Said(action, {}, self._fresh_key()), intended_ns)

    def act(self, action: str, **values: Value) -> Answer:
        return self._send(_Said(action, values, self._fresh_key()), time.monotonic_ns())

    def repeat(self, *, elsewhere: bool = False) -> Answer:
        last = self._said()
        moved = last.moved + 1 if elsewhere else last.moved
        return self._send(replace(last, attempt=last.attempt + 1, moved=moved), time.monotonic_ns())

    def reuse(self, action: str, **values: Value) -> Answer:
        last = self._said()
        return self._send(_Said(action, values, last.key, attempt=last.attempt + 1), time.monotonic_ns())

    def at_once(
        self, action: str, times: int, *, one_key: bool = False, **values: Value
    ) -> tuple[Answer, ...]:
        first = _Said(action, values, self._fresh_key())
        said = [
            replace(first, attempt=first.attempt + place, moved=place)
            if one_key
            else replace(first, key=self._fresh_key(), moved=place)
            for place in range(times)
        ]
        under_way = [gevent.spawn(self._send, each, time.monotonic_ns()) for each in said]
        gevent.joinall(under_way, raise_error=True)
        self._last = said[-1]
        return tuple(each.value for each in under_way)

    def stranger(self, *, knows_key: bool = False) -> _Buyer:
        if len(self._plan.stage.actors) < 2:  # noqa: PLR2004 — oneself and another
            raise RuntimeError("nobody else is there to be a stranger")
        stranger = _Buyer(self._plan, self._client, self._arrival, strangeness=1)
        stranger._last = self._said() if knows_key else None
        return stranger

    def pause(self, seconds: float) -> None:
        gevent.sleep(seconds)

    def chance(self, purpose: str) -> float:
        return draw(self._plan.seed, self._arrival, purpose)

    def _fresh_key(self) -> str:
        self._acts += 1
        return f"{self._mark}{self._acts}"

    def _said(self) -> _Said:
        if self._last is None:
            raise RuntimeError("a buyer repeats only what was sent before")
        return self._last

    def _send(self, said: _Said, intended_ns: int) -> Answer:
        self._last = said
        prepared = self._client.prepare(
            said.action,
            node=(self._node + said.moved) % len(self._plan.nodes),
            actor=self._plan.stage.actors[self._person],
            values={**self._values, **said.values},
            key=said.key,
            arrival=self._arrival,
            attempt=said.attempt,
        )
        return self._client.exchange(prepared, intended_ns)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a buyer sent, so that it can be sent again; `moved` counts the nodes on from the buyer's own."""

    action: str
    values: dict[str, Value]
    key: str
    attempt: int = 1
    moved: int = 0
