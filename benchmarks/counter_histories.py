"""Histories of one counter of seats, as many clients saw it: true ones, and ones in which a refusal was told as a sale."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Final

from checker.linear import Call, Kind

T0_NS: Final = 1_000_000_000_000
THINK_US, CALL_US = 300, 1_000
"""Mean times between and during calls: most of the clients are under way at any moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One operation of one client, with the instant at which it took effect; `hold` is what a take made or a give ended."""

    op: int
    client: int
    kind: Kind
    sent_ns: int
    at_ns: int
    done_ns: int
    hold: int | None

    def call(self) -> Call:
        """Return what the client saw of it."""
        return Call(self.op, self.kind, self.sent_ns, self.done_ns)


def true_history(operations: int, clients: int, capacity: int, *, seed: int = 1) -> list[Deed]:
    """Return operations in the order of their effects; each client has one under way at a time, and one seat at most."""
    draw = random.Random(seed)
    calls = []
    for client in range(clients):
        now = T0_NS + draw.randrange(CALL_US * 1_000)
        for _ in range(operations // clients):
            sent = now + round(draw.expovariate(1 / THINK_US) * 1_000) + 1
            done = sent + round((0.2 + draw.expovariate(1.25)) * CALL_US * 1_000)
            calls.append((draw.randrange(sent, done), sent, done, client))
            now = done + 1
    holds: dict[int, int] = {}
    deeds = []
    for op, (at, sent, done, client) in enumerate(sorted(calls)):
        kind: Kind
        if client in holds:
            kind, hold = "give", holds.pop(client)
        elif len(holds) < capacity:
            kind, hold = "take", op
            holds[client] = op
        else:
            kind, hold = "refused", None
        deeds.append(Deed(op=op, client=client, kind=kind, sent_ns=sent, at_ns=at, done_ns=done, hold=hold))
    return deeds


def broken_history(operations: int, clients: int, capacity: int, *, seed: int = 1) -> list[Deed]:
    """Return a history in which, from half way on, some who came too late were sold a seat all the same.

    Twice as many as there are clients: one seat too many might have been given back in time by somebody under way.
    """
    deeds = true_history(operations, clients, capacity, seed=seed)
    refused = [place for place in range(len(deeds) // 2, len(deeds)) if deeds[place].kind == "refused"]
    for place in refused[: 2 * clients]:
        deeds[place] = replace(deeds[place], kind="take", hold=deeds[place].op)
    return deeds
