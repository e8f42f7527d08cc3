"""One deadline for all of a command's waits: each takes what is left of it where that is less than its own bound."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from typing import Any

import pytest

from service import deadline
from service.deadline import Deadline, TooLate
from service.errors import Refused
from service.session import Patience, opened_ms
from service.settings import Settings

SETTINGS = Settings(database_url="postgresql://", token_secret="t" * 32, owner_secret="o" * 32)


def begun_before(seconds: float, *, of: float = 3.0) -> None:
    """Give the test a deadline of which so much is over."""
    began = asyncio.get_running_loop().time() - seconds
    deadline.share([Deadline(work_until=began + of * 0.9, cut_at=began + of * 0.95, answer_by=began + of)])


async def test_a_wait_takes_the_smaller_of_its_own_bound_and_what_is_left() -> None:
    begun_before(1.0)
    assert deadline.work_seconds_left(own=0.5) == 0.5
    assert deadline.work_seconds_left(own=9.0) == pytest.approx(1.7, abs=0.2)
    assert deadline.answer_seconds_left(own=9.0) == pytest.approx(2.0, abs=0.2)


async def test_what_has_no_deadline_waits_as_it_always_did() -> None:
    assert deadline.work_seconds_left(own=9.0) == deadline.answer_seconds_left(own=9.0) == 9.0
    assert deadline.work_seconds_left() == math.inf
    async with deadline.cut():
        await asyncio.sleep(0)


async def test_the_work_ends_before_it_is_cut_off_and_that_before_the_answer_is_due() -> None:
    deadline.start(3.0)
    given = deadline.current()
    assert given is not None
    assert given.work_until < given.cut_at < given.answer_by
    assert given.answer_by - asyncio.get_running_loop().time() <= 3.0


async def test_who_works_for_several_takes_the_earliest_of_their_deadlines() -> None:
    sooner, later = Deadline.after(1.0), Deadline.after(2.0)
    deadline.share([later, None, sooner])
    assert deadline.current() is sooner
    deadline.share([None])
    assert deadline.current() is None


async def test_what_lasts_too_long_is_cut_off() -> None:
    begun_before(2.9)
    with pytest.raises(TooLate):
        async with asyncio.timeout(5), deadline.cut():
            await asyncio.Event().wait()


async def test_a_timeout_of_somebody_elses_is_not_taken_for_the_deadlines() -> None:
    deadline.start(3.0)
    with pytest.raises(TimeoutError, match="theirs"):
        async with deadline.cut():
            raise TimeoutError("theirs")


async def test_what_must_be_done_goes_on_after_the_answer() -> None:
    """And without the deadline, which would refuse it."""
    may_end, seen = asyncio.Event(), []

    async def duty() -> None:
        await may_end.wait()
        seen.append(deadline.current())

    begun_before(4.0)
    async with asyncio.timeout(5):
        await deadline.see_to(duty())
        assert not seen
        may_end.set()
        await asyncio.gather(*deadline._OUTLASTING)
    assert seen == [None]


async def test_what_must_be_done_is_waited_for_while_there_is_time() -> None:
    seen = []

    async def duty() -> None:
        await asyncio.sleep(0)
        seen.append("done")

    deadline.start(3.0)
    await deadline.see_to(duty())
    assert seen == ["done"]


@dataclass
class Line:
    """A connection that only says what was asked of it."""

    statement_ms: int | None = None
    sent: list[int] = field(default_factory=list)

    async def let_statements_run(self, ms: int) -> None:
        self.sent.append(ms)
        self.statement_ms = ms


def patience(**more: Any) -> Patience:
    return Patience(SETTINGS, opened_ms=opened_ms(SETTINGS, for_commands=True), **more)


async def test_a_command_that_waited_for_nothing_costs_no_round_trip() -> None:
    deadline.start(SETTINGS.command_deadline_ms / 1_000)
    line = Line()
    await patience().of_session(line)
    assert patience().of_transaction(line) == "BEGIN"
    assert not line.sent


async def test_a_statement_may_not_run_for_longer_than_is_left() -> None:
    begun_before(1.7)  # one second of work is left
    line = Line()
    await patience().of_session(line)
    assert line.sent == [pytest.approx(750, abs=100)]
    await patience().of_session(line)
    assert len(line.sent) == 1  # what the session has been told will do


async def test_the_bound_of_a_transaction_goes_with_its_begin_and_ends_with_it() -> None:
    begun_before(1.7)
    line = Line()
    begin, _, bound = patience().of_transaction(line).partition("; SET LOCAL statement_timeout = ")
    assert (begin, int(bound)) == ("BEGIN", pytest.approx(1_000, abs=150))
    assert line.statement_ms is None


async def test_who_has_all_the_time_is_not_left_with_a_hurried_ones_bound() -> None:
    line = Line(statement_ms=300)
    await patience().of_session(line)
    assert line.sent == [SETTINGS.statement_timeout_ms * 3 // 4]


async def test_with_no_time_left_nothing_is_sent() -> None:
    begun_before(2.695)
    line = Line()
    with pytest.raises(Refused, match="over before the database was asked"):
        await patience().of_session(line)
    with pytest.raises(Refused, match="over before the database was asked"):
        patience().of_transaction(line)
    assert not line.sent
