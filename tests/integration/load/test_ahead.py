"""What is made before its run: it is taken, replaced where it died, and never left over."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from lastseat.ahead import Ahead
from lastseat.errors import LabError
from tests.integration.waiting import until

if TYPE_CHECKING:
    from lastseat.lab import Lab

    Stand = Any  # the fixture's class, in conftest.py

TEMPLATE = "template1"
OUTPUT = "hold"
"""What Locust's summary at the end names."""


def name() -> str:
    """Name a run that there has not been."""
    return f"ahead-{secrets.token_hex(4)}"


def waiting(lab: Lab) -> list[psutil.Process]:
    """Find the load processes of a lab."""
    below = psutil.Process(lab.supervision.process.pid).children()
    return [child for child in below if "locust" in " ".join(child.cmdline())]


async def test_the_run_takes_the_processes_that_wait_and_has_what_they_say(lab: Lab, stand: Stand) -> None:
    (stand.folder / "logs").mkdir()
    async with Ahead(lab) as ahead:
        await ahead.call(name(), TEMPLATE)
        (called,) = waiting(lab)
        async with ahead.load(stand.folder) as load:
            assert waiting(lab) == [called]
            await load.play(stand.plan(resources=2), within_seconds=30)
        assert waiting(lab) == []
        assert OUTPUT in (stand.folder / "logs" / "load-0.log").read_text()
        async with ahead.load(stand.folder):
            (other,) = waiting(lab)
            assert other != called, "nobody was called up for the next"


async def test_one_that_died_meanwhile_is_replaced(lab: Lab, stand: Stand) -> None:
    (stand.folder / "logs").mkdir()
    async with Ahead(lab) as ahead:
        await ahead.call(name(), TEMPLATE)
        (called,) = waiting(lab)
        called.kill()
        load = ahead._waiting
        assert load
        await until(lambda: load.lost, "the news of its end")
        async with ahead.load(stand.folder) as other:
            summary = await other.play(stand.plan(resources=2), within_seconds=30)
    assert summary.tally.done == 20


async def test_one_that_nobody_takes_ends_with_the_season(lab: Lab) -> None:
    async with Ahead(lab) as ahead:
        await ahead.call(name(), TEMPLATE)
        assert len(waiting(lab)) == 1
    assert waiting(lab) == []


async def test_the_database_that_waits_is_taken_once(lab: Lab) -> None:
    run = name()
    async with Ahead(lab) as ahead:
        await ahead.call(run, TEMPLATE)
        dsn = await ahead.database(run, TEMPLATE)
        assert run in dsn
        with pytest.raises(LabError, match="could not be created"):
            await ahead.database(run, TEMPLATE)
        other = await ahead.database(name(), TEMPLATE)
    for each in (dsn, other):
        await lab.drop_database(each)


async def test_what_cannot_be_made_ahead_is_no_failure_yet(lab: Lab) -> None:
    async with Ahead(lab) as ahead:
        await ahead.call(name(), "no such template")
        with pytest.raises(LabError, match="could not be created"):
            await ahead.database(name(), "no such template")
