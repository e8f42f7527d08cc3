"""Load processes that are called up before their run: they are taken, replaced where they died, and never left over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psutil

from lastseat.ahead import Ahead
from tests.integration.waiting import until

if TYPE_CHECKING:
    from lastseat.lab import Lab

    Stand = Any  # the fixture's class, in conftest.py

OUTPUT = "hold"
"""What Locust's summary at the end names."""


def waiting(lab: Lab) -> list[psutil.Process]:
    """Find the load processes of a lab."""
    below = psutil.Process(lab.supervision.process.pid).children()
    return [child for child in below if "locust" in " ".join(child.cmdline())]


async def test_the_run_takes_the_processes_that_wait_and_has_what_they_say(lab: Lab, stand: Stand) -> None:
    (stand.folder / "logs").mkdir()
    async with Ahead(lab) as ahead:
        await ahead.call()
        (called,) = waiting(lab)
        async with ahead.load(stand.folder) as load:
            await load.play(stand.plan(resources=2), within_seconds=30)
            assert waiting(lab) == [called]
        assert waiting(lab) == []
        assert OUTPUT in (stand.folder / "logs" / "load-0.log").read_text()
        async with ahead.load(stand.folder):
            assert waiting(lab) != [called], "nobody was called up for the next"


async def test_one_that_died_meanwhile_is_replaced(lab: Lab, stand: Stand) -> None:
    (stand.folder / "logs").mkdir()
    async with Ahead(lab) as ahead:
        await ahead.call()
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
        await ahead.call()
        assert len(waiting(lab)) == 1
    assert waiting(lab) == []
