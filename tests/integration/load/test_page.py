"""Locust's own page beside a load: it shows what happens, on this machine only, and nothing that becomes of it matters."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from scenarios.arrivals import steady
from scenarios.load import Load, LoadError, LoadSummary, play
from scenarios.page import Page, showing
from tests.integration.waiting import until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Stand = Any  # the fixture's class, in conftest.py

DEADLINE_SECONDS = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(page: Page, path: str, body: bytes | None = None) -> tuple[int, bytes]:
    """Ask the page as a browser does; with a body, to change something."""
    try:
        with urllib.request.urlopen(page.url + path, data=body, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


async def statistics(page: Page) -> dict[str, Any]:
    """What the page says of all kinds of operation."""
    _, said = await asyncio.to_thread(ask, page, "/stats/requests")
    return dict(json.loads(said))


async def counted(page: Page) -> dict[str, int]:
    """What the page says was done of each kind, once it says anything."""
    counts: dict[str, int] = {}

    async def anything() -> bool:
        counts.update({row["name"]: row["num_requests"] for row in (await statistics(page))["stats"]})
        return counts["Aggregated"] > 0

    await until(anything, "an operation on the page", within_seconds=DEADLINE_SECONDS)
    return counts


async def played(stand: Stand, page: Page, seconds: float, shards: int = 1) -> LoadSummary:
    plan = stand.plan(steady(rate=100, seconds=seconds), habits={"racer": 1.0})
    return await play(plan, page.spawn, within_seconds=30, shards=shards)


async def test_it_counts_what_all_load_processes_do_while_they_do_it(stand: Stand) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        load = asyncio.create_task(played(stand, page, seconds=4, shards=2))
        counts = await counted(page)
        said = await statistics(page)
        assert not load.done()
        summary = await load
    assert set(counts) == {"hold", "Aggregated"}
    assert 0 < counts["hold"] == counts["Aggregated"] <= summary.tally.done == 400
    assert said["state"] == "running"


async def test_it_tells_failures_apart_from_refusals(stand: Stand) -> None:
    stand.office.behave = lambda path, _key: "eof" if path.split("/")[3] == "0" else None
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        load = asyncio.create_task(played(stand, page, seconds=3))
        await counted(page)
        errors: list[dict[str, Any]] = []

        async def failed() -> bool:
            errors[:] = (await statistics(page))["errors"]
            return bool(errors)

        await until(failed, "a failure on the page", within_seconds=DEADLINE_SECONDS)
        await load
    assert [error["name"] for error in errors] == ["hold"]
    assert "EOF" in errors[0]["error"]


async def test_whoever_would_change_the_load_is_refused_and_it_plays_to_its_end(stand: Stand) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        load = asyncio.create_task(played(stand, page, seconds=3))
        before = await counted(page)
        for path in ("/swarm", "/stop", "/stats/reset", "/user"):
            status, words = await asyncio.to_thread(ask, page, path, b"user_count=9&spawn_rate=9")
            assert (status, b"only shows" in words) == (403, True), path
        after = await counted(page)
        summary = await load
    assert after["hold"] >= before["hold"] > 0
    assert summary.tally.done == 300


async def test_it_is_there_on_the_loopback_address_alone(stand: Stand) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        status, said = ask(page, "/")
        assert status == 200
        assert b"box_office" in said
        assert b"header .MuiButton-contained { display: none }" in said
        for elsewhere in ("127.0.0.2", "::1"):
            with pytest.raises(OSError, match=r"."):
                socket.create_connection((elsewhere, page.port), timeout=1).close()


async def test_it_is_gone_when_it_was_ended(stand: Stand) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", page.port), timeout=1).close()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_load_whose_page_is_killed_or_stands_still_is_played_to_its_end(
    stand: Stand, sent: signal.Signals
) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        load = asyncio.create_task(played(stand, page, seconds=3))
        await counted(page)
        page.child.signal(sent)
        assert (await load).tally.done == 300


async def test_a_batch_that_is_none_is_noted_and_the_page_goes_on(stand: Stand) -> None:
    async with showing(stand.spawn, title="box_office", port=free_port()) as page:
        await page.up()
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(page.hearing)
            stranger.sendall(b"\xc1")
        await played(stand, page, seconds=1)
        await counted(page)
        noted = page.child.log.read_text()
    assert "a batch of 1 bytes was not understood" in noted
    assert "Traceback" not in noted


async def test_a_port_that_is_not_free_is_told_and_is_no_matter_of_the_loads(stand: Stand) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        async with showing(stand.spawn, title="box_office", port=other.getsockname()[1]) as page:
            with pytest.raises(
                LoadError, match=r"cannot be shown on http://127\.0\.0\.1:\d+; see .*page\.log"
            ):
                await page.up()
            assert (await played(stand, page, seconds=0.5)).tally.done == 50


async def test_a_load_without_a_page_is_started_as_ever(stand: Stand) -> None:
    told: list[Mapping[str, str]] = []

    async def spawn(role: str, argv: Sequence[str], *, env: Mapping[str, str]) -> Any:
        told.append(env)
        return await stand.spawn(role, argv, env=env)

    async with Load(spawn):
        assert [sorted(env) for env in told] == [["LASTSEAT_LOAD_CONTROL", "LASTSEAT_LOAD_SHARD"]]
