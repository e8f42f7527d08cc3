"""Commits happen while they are asked for and not yet answered, and in the order in which buyers saw them happen."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from checker.brief import read_brief
from checker.evidence import open_evidence
from checker.invariants import load
from checker.verdict import Judgement
from tests.oracle.by_hand.plane import Plane

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NAME = "seats_linearize"
WITHOUT = "seats_linearize_without_trail"
HISTORIES = 250


def sale(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)


def test_a_commit_between_question_and_answer_is_valid(plane: Plane) -> None:
    sale(plane)
    assert plane.judged(NAME) is Judgement.VALID


def test_a_commit_before_its_question_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=4, commit=2, done=5, count=1)
    assert plane.violated() == {NAME}


def test_a_retry_is_told_of_what_its_first_attempt_did(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=1, done=10, key="k", outcome="info")
    plane.commit(2, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    plane.operation("hold", "r", sent=11, done=12, key="k", created="h1", replayed=True)
    assert plane.violated() == set()


def test_one_who_never_learnt_may_be_served_long_after_but_not_before_asking(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=3, done=4, key="k", outcome="info")
    plane.commit(90, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    assert plane.judged(NAME) is Judgement.VALID
    plane.commits[0] |= {"at": 2}
    assert plane.judged(NAME) is Judgement.INVALID


def test_an_order_that_buyers_saw_otherwise_is_caught_whatever_the_clocks_say(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    for name, at, place in (("h2", 5, 3.0), ("h1", 2, 9.0)):
        change = (*plane.recorded(f"key-{name}"), plane.hold(name, idempotency_key=f"key-{name}"))
        plane.commit(at, *change, plane.counted("r", 1 if name == "h2" else 2), lsn=place)
        plane.operation("hold", "r", sent=at - 1, done=at + 1, key=f"key-{name}", created=name)
    assert plane.judged(NAME) is Judgement.INVALID


def test_without_a_trail_what_is_not_told_in_full_is_left_alone(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    plane.sold("h2", "r", sent=6, commit=7, done=8, count=1)
    assert plane.finding(WITHOUT).reason == "there was nothing to look at"


def test_without_a_trail_attempts_under_one_key_take_one_seat(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.operation("hold", "r", sent=1, done=4, key="key-h1", outcome="info")
    plane.sold("h1", "r", sent=5, commit=6, done=7, count=1, replayed=True)
    plane.told_sold_out("r", sent=8, commit=9, done=10, key="late")
    finding = plane.finding(WITHOUT)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 2)


def test_without_a_trail_a_cancelled_reservation_gives_its_seat_back(plane: Plane) -> None:
    sale(plane)
    plane.rows["resources", "r"]["capacity"] = "1"
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=4, commit=5, done=6, created="b1")
    over = (plane.reservation("b1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel_reservation", "b1", *over, sent=7, commit=8, done=9)
    plane.sold("h2", "r", sent=10, commit=11, done=12, count=1)
    assert plane.judged(WITHOUT) is Judgement.VALID


def test_a_search_that_is_given_up_is_no_verdict(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    sale(plane)
    monkeypatch.setattr("checker.linear.Work.__init__.__defaults__", (0,))
    monkeypatch.setattr("checker.linear.is_explained", lambda *_: False)  # so that it must be searched
    finding = plane.finding(WITHOUT)
    assert finding.judgement is Judgement.UNKNOWN
    assert "the search was given up" in (finding.reason or "")


@dataclass
class Told:
    """One small history: takes as (sent, commit, done), refusals as (sent, done), of a resource of one seat or two."""

    capacity: int
    takes: list[tuple[int, float, int]] = field(default_factory=list)
    refusals: list[tuple[int, int]] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether every moment bears it out; commits lie between the instants of questions and answers."""
        commits = sorted(commit for _, commit, _ in self.takes)
        inside = all(sent <= commit <= done for sent, commit, done in self.takes)
        full_since = commits[self.capacity - 1] if len(commits) >= self.capacity else None
        refused = all(full_since is not None and full_since <= done for _, done in self.refusals)
        return inside and len(commits) <= self.capacity and refused


def drawn(chance: random.Random) -> Told:
    told = Told(capacity=chance.randint(1, 2))
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        sent = chance.randint(1, 8)
        done = sent + chance.randint(1, 4)
        commit = chance.randint(sent, done - 1) if chance.random() < 0.9 else chance.randint(0, 12)
        told.takes.append((sent, commit + 0.5, done))
    for _ in range(chance.randint(0, 2)):
        sent = chance.randint(1, 10)
        told.refusals.append((sent, sent + chance.randint(1, 4)))
    return told


def staged(plane: Plane, histories: list[Told]) -> None:
    """Let each history happen to a resource of its own, each commit shown at once by a snapshot."""
    commits = []
    for number, told in enumerate(histories):
        resource = f"r{number}"
        plane.resource(resource, capacity=told.capacity)
        for take, (sent, commit, done) in enumerate(told.takes):
            commits.append((commit + number * 1e-4, sent, done, resource, f"h{number}-{take}"))
        for refusal, (sent, done) in enumerate(told.refusals):
            plane.refused(resource, sent=sent, done=done, key=f"x{number}-{refusal}", owner="x")
    count: dict[str, int] = {}
    seen: list[int] = []
    for commit, sent, done, resource, name in sorted(commits):
        count[resource] = count.get(resource, 0) + 1
        plane.sold(name, resource, sent=sent, commit=commit, done=done, count=count[resource], owner="x")
        seen.append(700 + len(seen))
    for number in range(len(seen)):
        plane.snapshot(plane.commits[number]["at"], sees=seen[: number + 1])


@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_the_invariants_together_agree_with_every_moment_of_small_histories(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)
    histories = [drawn(chance) for _ in range(HISTORIES)]
    plane = Plane(tmp_path_factory.mktemp("histories") / "run")
    staged(plane, histories)
    convicted = resources_convicted(plane.write(), (NAME, "never_oversold", "sold_out_is_true"))
    assert convicted == {f"r{number}" for number, told in enumerate(histories) if not told.right}


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
