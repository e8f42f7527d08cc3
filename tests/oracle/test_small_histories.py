"""The rules of linearizability with a trail, against every moment of small histories: any quantity, ends and doubts too."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from checker.brief import read_brief
from checker.evidence import open_evidence
from checker.invariants import load
from tests.oracle.by_hand.plane import Plane

if TYPE_CHECKING:
    from pathlib import Path

RULES = ("seats_linearize", "never_oversold", "sold_out_is_true")
HISTORIES = 250
LATEST = 46


@dataclass
class Asked:
    """One operation that was sent: when, when it committed (None: never), when it was answered (None: nobody was told)."""

    sent: int
    commit: float | None
    done: int | None

    @property
    def right(self) -> bool:
        if self.commit is None:
            return self.done is None
        return self.sent <= self.commit and (self.done is None or self.commit <= self.done)


@dataclass
class Take:
    """One hold of some seats, and how it ended: somebody cancelled it, or it expired at an instant, or neither."""

    asked: Asked
    quantity: int
    cancel: Asked | None = None
    expired: float | None = None

    @property
    def over(self) -> float | None:
        return self.cancel.commit if self.cancel else self.expired


@dataclass
class Told:
    """One small history of a resource of a few seats; refusals are (sent, done, quantity)."""

    capacity: int
    takes: list[Take] = field(default_factory=list)
    refusals: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether every moment bears it out; commits lie between the instants of questions and answers."""
        asked = [each for take in self.takes for each in (take.asked, take.cancel) if each is not None]
        moments = [number / 4 for number in range(4 * LATEST)]
        return (
            all(each.right for each in asked)
            and all(self.room(at) >= 0 for at in moments)
            and all(
                any(self.room(at) < quantity for at in moments if sent <= at <= done)
                for sent, done, quantity in self.refusals
            )
        )

    def room(self, at: float) -> int:
        live = sum(
            take.quantity
            for take in self.takes
            if take.asked.commit is not None
            and take.asked.commit <= at
            and (take.over is None or at < take.over)
        )
        return self.capacity - live


def asked(chance: random.Random, slots: set[int], *, since: int = 0) -> Asked:
    """Draw one operation that committed in a slot of its own, after another: mostly while it was asked for."""
    slot = min(each for each in slots if each >= since + chance.randint(0, 3))
    slots.discard(slot)
    sent, done = slot - chance.randint(0, 2), slot + 1 + chance.randint(0, 2)
    if chance.random() < 0.06:
        sent, done = (slot + 1, done + 1) if chance.random() < 0.5 else (sent - 1, slot)
    return Asked(max(sent, 0), slot + 0.5, None if chance.random() < 0.2 else done)


def drawn(chance: random.Random) -> Told:
    """Draw holds of one seat to three, each of which may be cancelled or expire, and some of which nobody was told of."""
    told = Told(capacity=chance.randint(1, 4))
    slots = set(range(1, LATEST - 6))
    for _ in range(chance.choice((0, 1, 2, 2, 3, 4))):
        take = Take(asked(chance, slots, since=chance.randint(1, 8)), chance.choice((1, 1, 2, 3)))
        told.takes.append(take)
        if take.asked.done is None and chance.random() < 0.3:
            take.asked.commit = None
            continue
        ended = chance.random()
        since = int(take.asked.commit or 0) + 1
        if ended < 0.4:
            take.cancel = asked(chance, slots, since=since)
        elif ended < 0.6:
            take.expired = asked(chance, slots, since=since).commit
        if take.cancel and take.cancel.done is None and chance.random() < 0.3:
            take.cancel.commit = None
    for _ in range(chance.randint(0, 2)):
        sent = chance.randint(1, 20)
        told.refusals.append((sent, sent + chance.randint(1, 4), chance.choice((1, 1, 2, 3))))
    return told


def staged(plane: Plane, histories: list[Told]) -> None:
    """Let each history happen to a resource of its own, each commit shown at once by a snapshot."""
    commits: list[tuple[float, str, str, Take, str]] = []
    for number, told in enumerate(histories):
        resource = f"r{number}"
        plane.resource(resource, capacity=told.capacity)
        for place, take in enumerate(told.takes):
            name = f"h{number}-{place}"
            commits += [
                (at, resource, name, take, state)
                for at, state in (
                    (take.asked.commit, "ACTIVE"),
                    (take.over, "CANCELLED" if take.cancel else "EXPIRED"),
                )
                if at is not None
            ]
            _send(plane, "hold", resource, take.asked, key=name, created=name, quantity=take.quantity)
            if take.cancel:
                _send(plane, "cancel", name, take.cancel, key=f"cancel-{name}")
        for refusal, (sent, done, quantity) in enumerate(told.refusals):
            key = f"x{number}-{refusal}"
            plane.refused(resource, sent=sent, done=done, key=key, owner="x", quantity=quantity)
    count: Counter[str] = Counter()
    seen: list[int] = []
    for at, resource, name, take, state in sorted(commits, key=lambda commit: commit[:3]):
        count[resource] += take.quantity if state == "ACTIVE" else -take.quantity
        asked_by = {"ACTIVE": ("hold", name), "CANCELLED": ("cancel", f"cancel-{name}")}.get(state)
        record = plane.recorded(asked_by[1], kind=asked_by[0]) if asked_by else ()
        hold = plane.hold(name, resource, state=state, quantity=take.quantity, idempotency_key=name)
        plane.commit(at, *record, hold, plane.counted(resource, count[resource]), lsn=len(seen))
        seen.append(700 + len(seen))
        plane.snapshot(at, sees=seen[-1:], running=[])


def _send(plane: Plane, kind: str, subject: str, asked: Asked, *, key: str, **about: Any) -> None:
    told = {"outcome": "info"} if asked.done is None else about
    quantity = about.get("quantity", 1)
    plane.operation(
        kind, subject, sent=asked.sent, done=asked.done, key=key, owner="x", **(told | {"quantity": quantity})
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_invariants_together_agree_with_every_moment_of_small_histories(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    histories = [drawn(chance) for _ in range(HISTORIES)]
    plane = Plane(tmp_path / "run")
    staged(plane, histories)
    convicted = resources_convicted(plane.write(), RULES)
    wrong = {f"r{number}" for number, told in enumerate(histories) if not told.right}
    assert HISTORIES / 10 < len(wrong) < HISTORIES * 9 / 10, "both kinds must be many"
    assert convicted == wrong


def resources_convicted(folder: Path, names: tuple[str, ...]) -> set[str]:
    rules = load()
    with open_evidence(folder, read_brief(folder)) as evidence:
        return {
            resource
            for name in names
            for (resource,) in evidence.rows(
                f"SELECT DISTINCT resource FROM ({rules[name].counter_examples})"
            )
        }
