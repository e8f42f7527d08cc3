"""The forward search over one counter, against trying every order."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from checker.linear import Call, Undecided, Work, first_impossible, searched

if TYPE_CHECKING:
    from collections.abc import Iterable

LATE = 1_000
HISTORIES = 40_000


def fits(capacity: int, calls: frozenset[Call], taken: int = 0) -> bool:
    """Whether some order explains the calls: the next is any that no other was answered before."""
    told = {call for call in calls if call.done_ns is not None}
    if not told:
        return True
    first_answer = min(call.done_ns or 0 for call in told)
    for call in calls:
        # An answer and a question of one instant overlapped.
        if call.sent_ns > first_answer:
            continue
        after = taken + {"take": 1, "give": -1, "refused": 0}[call.kind]
        right = taken == capacity if call.kind == "refused" else 0 <= after <= capacity
        if right and fits(capacity, calls - {call}, after):
            return True
    return False


def drawn(chance: random.Random) -> tuple[int, list[Call]]:
    """A capacity, and a few calls that may or may not fit it."""
    calls = []
    for op in range(chance.randint(1, 7)):
        kind = chance.choice(("take", "take", "give", "refused", "refused"))
        sent = chance.randint(0, 9)
        told = kind == "refused" or chance.randint(0, 4) > 0
        calls.append(Call(op, kind, sent, sent + chance.randint(0, 5) if told else None))
    return chance.randint(0, 3), calls


def test_the_search_agrees_with_trying_every_order() -> None:
    """So many that a search which only seldom errs is found out, at a tenth of what Hypothesis takes for fewer."""
    chance = random.Random(1)
    fitting = 0
    for number in range(HISTORIES):
        capacity, calls = drawn(chance)
        fit = fits(capacity, frozenset(calls))
        assert (first_impossible(capacity, calls) is None) == fit, (capacity, calls)
        if number % 10 == 0:  # what counting, or one pass, decides is searched too
            assert (searched(capacity, calls) is None) == fit, (capacity, calls)
        fitting += fit
    assert HISTORIES / 10 < fitting < HISTORIES / 2, "both kinds must be many"


def called(*told: tuple[Any, int, int | None]) -> Iterable[Call]:
    return [Call(op, kind, sent, done) for op, (kind, sent, done) in enumerate(told)]


def test_two_who_got_the_last_seat_fit_no_order() -> None:
    impossible = first_impossible(1, called(("take", 1, 5), ("take", 2, 6)))
    assert impossible is not None
    assert impossible.op == 1


def test_a_refusal_beside_the_winner_is_right() -> None:
    assert first_impossible(1, called(("take", 1, 5), ("refused", 2, 3))) is None


def test_a_refusal_before_the_winner_asked_is_not() -> None:
    impossible = first_impossible(1, called(("take", 4, 5), ("refused", 2, 3)))
    assert impossible is not None
    assert impossible.op == 1


def test_one_who_never_learnt_may_have_got_the_seat_much_later() -> None:
    assert first_impossible(1, called(("take", 1, None), ("refused", 50, 60))) is None


def test_bounds_alone_would_not_see_it() -> None:
    """Each of the two refusals could be right by itself; for both the one untold seat would have had to be taken twice."""
    told = called(("take", 0, None), ("refused", 1, 2), ("take", 3, 4), ("refused", 5, 6))
    assert first_impossible(1, told) is not None


def test_a_search_that_grows_too_large_is_given_up() -> None:
    told = called(("take", 0, None), ("refused", 1, 2), ("take", 3, 4), ("refused", 5, 6))
    with pytest.raises(Undecided, match="given up"):
        first_impossible(1, told, Work(left=2))


@pytest.mark.parametrize("seed", range(5))
def test_long_histories_of_many_clients_are_decided_without_a_search(seed: int) -> None:
    nothing = Work(left=0)
    true = true_history(4_000, 40, 15, seed=seed)
    assert first_impossible(15, true, nothing) is None
    refused = [place for place in range(2_000, 4_000) if true[place].kind == "refused"]
    sold = {true[place].op for place in refused[:80]}
    broken = [replace(call, kind="take") if call.op in sold else call for call in true]
    impossible = first_impossible(15, broken, nothing)
    assert impossible is not None
    assert impossible.op >= min(sold)


def true_history(calls: int, clients: int, capacity: int, *, seed: int) -> list[Call]:
    """Calls of clients who have one under way at a time, each of which took effect at an instant between its two."""
    draw = random.Random(seed)
    effects = []
    for client in range(clients):
        now = draw.randrange(1_000)
        for _ in range(calls // clients):
            sent = now + draw.randrange(1, 400)
            now = sent + draw.randrange(200, 2_000)
            effects.append((draw.randrange(sent, now), sent, now, client))
    holding: set[int] = set()
    history = []
    for op, (_, sent, done, client) in enumerate(sorted(effects)):
        if client in holding:
            holding.remove(client)
            history.append(Call(op, "give", sent, done))
        elif len(holding) < capacity:
            holding.add(client)
            history.append(Call(op, "take", sent, done))
        else:
            history.append(Call(op, "refused", sent, done))
    return history


def test_hundreds_of_races_for_one_seat_each_cost_little() -> None:
    work = Work()
    for _ in range(1_000):
        race = [Call(0, "take", 0, LATE), *(Call(op, "refused", op, LATE + op) for op in range(1, 10))]
        assert first_impossible(1, race, work) is None
    assert work.left > 450_000
