"""The load as a run uses it: real Locust processes, led over their control socket, against a box office."""

from __future__ import annotations

import asyncio
import time
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import pytest

from scenarios.arrivals import barrier, steady
from scenarios.history import gather
from scenarios.load import Load, LoadError, play
from scenarios.targets.target import Node

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scenarios.control import Tally

    Stand = Any  # the fixture's class, in conftest.py


def races(folder: Path) -> dict[int, list[dict[str, Any]]]:
    rows = sorted(gather(folder).to_pylist(), key=lambda row: (row["race"], row["sent_ns"]))
    return {race: list(buyers) for race, buyers in groupby(rows, key=lambda row: row["race"])}


async def test_ten_buyers_are_in_flight_together_for_each_last_seat(stand: Stand) -> None:
    stand.office.delay_seconds = 0.005
    told: list[Tally] = []
    zeros: list[int] = []
    summary = await play(
        stand.plan(), stand.spawn, within_seconds=30, on_zero=zeros.append, on_progress=told.append
    )
    assert summary.tally == told[-1]
    assert (summary.tally.done, summary.tally.ok, summary.tally.fail) == (200, 20, 180)
    assert summary.tally.through == 200
    assert zeros == [summary.t0_ns]
    assert len(races(stand.folder)) == 20
    for buyers in races(stand.folder).values():
        assert [buyer["outcome"] for buyer in buyers].count("ok") == 1
        assert max(buyer["sent_ns"] for buyer in buyers) < min(buyer["done_ns"] for buyer in buyers)
        assert summary.t0_ns <= buyers[0]["intended_ns"] <= buyers[0]["sent_ns"]
        assert {buyer["node"] for buyer in buyers} == {"node-a", "node-b"}
        assert len({buyer["owner"] for buyer in buyers}) == 10


async def test_nothing_is_sent_twice_and_the_history_is_what_was_sent(stand: Stand) -> None:
    await play(stand.plan(), stand.spawn, within_seconds=30)
    assert set(stand.office.keys.values()) == {1}
    assert {row["key"] for row in gather(stand.folder).to_pylist()} == set(stand.office.keys)


async def test_everyone_has_a_key_of_their_own_where_races_differ_in_width(stand: Stand) -> None:
    plan = stand.plan(barrier(2, width=10) + barrier(3, width=4), resources=5)
    summary = await play(plan, stand.spawn, within_seconds=30)
    table = gather(stand.folder)
    keys = table.column("key").to_pylist()
    assert (
        summary.tally.done == len(set(keys)) == len(set(table.column("owner").to_pylist())) == 2 * 10 + 3 * 4
    )


async def test_every_other_race_names_the_revision_it_saw(stand: Stand) -> None:
    await play(stand.plan(), stand.spawn, within_seconds=30)
    careful = {path for path, body in stand.office.bodies if "expectedResourceRevision" in body}
    plain = {path for path, body in stand.office.bodies if not body}
    assert (len(careful), len(plain)) == (10, 10)
    assert careful.isdisjoint(plain)


async def test_without_the_barrier_no_two_operations_of_a_race_overlap(stand: Stand) -> None:
    await play(stand.plan(apart=True), stand.spawn, within_seconds=30)
    for buyers in races(stand.folder).values():
        assert all(earlier["done_ns"] <= later["sent_ns"] for earlier, later in pairwise(buyers))


async def test_two_load_processes_share_the_races_and_split_none(stand: Stand) -> None:
    summary = await play(stand.plan(), stand.spawn, within_seconds=30, shards=2)
    assert summary.tally.done == 200
    assert {len({buyer["shard"] for buyer in buyers}) for buyers in races(stand.folder).values()} == {1}
    assert {row["shard"] for row in gather(stand.folder).to_pylist()} == {0, 1}


async def test_the_load_tells_of_its_own_health(stand: Stand) -> None:
    summary = await play(stand.plan(), stand.spawn, within_seconds=30)
    last = summary.health[-1]
    assert (last.arrivals, last.dropped) == (200, 0)
    assert last.lag_p99_us >= last.lag_p50_us > 0
    assert summary.lag_p99_us > 0


async def test_arrivals_are_intended_when_the_schedule_says(stand: Stand) -> None:
    plan = stand.plan(steady(rate=100, seconds=1), habits={"racer": 1.0})
    summary = await play(plan, stand.spawn, within_seconds=30)
    intended = sorted(row["intended_ns"] - summary.t0_ns for row in gather(stand.folder).to_pylist())
    assert intended == [arrival.at_ns for arrival in plan.schedule.arrivals(1)]


async def test_an_arrival_that_finds_no_free_buyer_is_counted_not_forgotten(stand: Stand) -> None:
    stand.office.delay_seconds = 0.5
    plan = stand.plan(steady(rate=100, seconds=0.3), habits={"racer": 1.0}, buyers_max=4)
    summary = await play(plan, stand.spawn, within_seconds=30)
    assert summary.tally.dropped > 0
    assert summary.tally.done + summary.tally.dropped == 30
    assert summary.tally.through == 30, "nobody comes again for whom there was no buyer"


async def test_a_buyer_who_does_two_things_is_one_arrival_of_the_load(stand: Stand) -> None:
    stand.office.behave = lambda _path, _key: (409, {"code": "CAPACITY_EXHAUSTED"})
    plan = stand.plan(steady(rate=40, seconds=1), habits={"double_clicker": 1.0})
    told: list[Tally] = []
    summary = await play(plan, stand.spawn, within_seconds=30, on_progress=told.append)
    assert (summary.tally.done, summary.tally.through) == (80, 40)
    assert any(0 < tally.through < 40 for tally in told)
    assert all(2 * tally.through <= tally.done for tally in told)


def only(resource: int, told: str | tuple[int, dict[str, Any]]) -> Callable[[str, str], Any]:
    return lambda path, _key: told if path.split("/")[3] == str(resource) else None


@pytest.mark.parametrize(
    ("behaviour", "outcome", "error"),
    [
        ("silence", "info", "timeout"),
        ("eof", "info", "eof"),
        ("reset", "info", "reset"),
        ("malformed", "info", "malformed"),
        ("crumbs", "fail", None),
        ((503, {"code": "OUTCOME_UNKNOWN"}), "info", None),
        ((500, {}), "info", None),
        ((503, {"code": "ADMISSION_REFUSED"}), "fail", None),
    ],
)
async def test_what_is_not_known_is_never_taken_for_a_refusal(
    stand: Stand, behaviour: str | tuple[int, dict[str, Any]], outcome: str, error: str | None
) -> None:
    stand.office.behave = only(1, behaviour)
    await play(stand.plan(resources=3, deadline_seconds=0.5), stand.spawn, within_seconds=30)
    played = races(stand.folder)
    assert {(row["outcome"], row["error"]) for row in played[1]} == {(outcome, error)}
    assert {row["error"] for row in played[2]} == {None}, "a broken connection was used for the next race"


async def test_an_answer_that_no_rule_knows_stops_the_run_with_a_clear_error(stand: Stand) -> None:
    stand.office.behave = only(2, (409, {"code": "OUT_OF_TEA"}))
    with pytest.raises(LoadError, match=r"no rule knows the answer 409 to hold.*OUT_OF_TEA"):
        await play(stand.plan(), stand.spawn, within_seconds=30)
    unclassified = [row for row in gather(stand.folder).to_pylist() if row["error"] == "unclassified"]
    assert {row["outcome"] for row in unclassified} == {"info"}


async def test_whoever_cannot_reach_a_node_has_certainly_sent_nothing(stand: Stand) -> None:
    stand.nodes = (stand.nodes[0], Node(label="node-b", host="127.0.0.1", port=1))
    summary = await play(stand.plan(), stand.spawn, within_seconds=30)
    rows = gather(stand.folder).to_pylist()
    there = [row for row in rows if row["node"] == "node-a"]
    away = [row for row in rows if row["node"] == "node-b"]
    assert summary.tally.done == len(rows) == 200
    assert [row["outcome"] for row in there].count("ok") == 20
    assert {(row["outcome"], row["error"], row["sent_ns"]) for row in away} == {("fail", "refused", None)}
    assert all(row["done_ns"] >= row["intended_ns"] for row in away)
    assert {row["key"] for row in there} == set(stand.office.keys)


async def test_a_race_waits_once_for_a_node_that_does_not_answer(stand: Stand) -> None:
    async def keep(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept.append(writer)

    kept: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(keep, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    stand.nodes = (stand.nodes[0], Node(label="node-b", host="127.0.0.1", port=port))
    started = time.monotonic()
    await play(stand.plan(resources=2, deadline_seconds=1.0), stand.spawn, within_seconds=30)
    assert time.monotonic() - started < 8, "each of the five of a race would have waited for a second"
    silent.close()
    for writer in kept:
        writer.close()
    away = [row for row in gather(stand.folder).to_pylist() if row["node"] == "node-b"]
    assert {(row["outcome"], row["error"], row["sent_ns"]) for row in away} == {("fail", "timeout", None)}


async def test_whoever_found_no_way_did_so_when_the_way_failed_and_not_when_all_others_were_waited_for(
    stand: Stand,
) -> None:
    async def keep(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kept.append(writer)

    kept: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(keep, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    refuses, waits = (Node(label=f"node-{port}", host="127.0.0.1", port=port) for port in (1, port))
    stand.nodes = (stand.nodes[0], refuses, waits)
    await play(stand.plan(resources=4, deadline_seconds=1.0), stand.spawn, within_seconds=30)
    silent.close()
    for writer in kept:
        writer.close()
    rows = gather(stand.folder).to_pylist()
    refused, in_vain = (
        {row["race"]: row["done_ns"] for row in rows if row["error"] == error}
        for error in ("refused", "timeout")
    )
    assert max(in_vain[race] - refused[race] for race in refused) > 500_000_000
    assert all(row["intended_ns"] == row["done_ns"] for row in rows if row["sent_ns"] is None)


async def test_a_shard_that_was_played_before_is_not_played_over(stand: Stand) -> None:
    await play(stand.plan(resources=2), stand.spawn, within_seconds=30)
    with pytest.raises(LoadError, match=r"cannot go on: .*File exists"):
        await play(stand.plan(resources=2), stand.spawn, within_seconds=30)


async def test_a_load_that_is_told_to_stop_ends_what_is_under_way_and_begins_nothing_new(
    stand: Stand,
) -> None:
    stand.office.delay_seconds = 0.01
    plan = stand.plan(barrier(1_000, width=10), resources=1_000)
    async with Load(stand.spawn) as load:
        summary = await load.play(plan, within_seconds=30, on_progress=lambda _tally: load.stop())
    assert 0 < summary.tally.done < 10_000
    assert summary.tally.done == gather(stand.folder).num_rows


async def test_a_load_process_that_has_played_does_so_once_and_ends_well(stand: Stand) -> None:
    """Locust lets a user do its task again and again, which would claim the shard a second time and end as an orphan."""
    for _ in range(3):
        await play(stand.plan(resources=2), stand.spawn, within_seconds=30)
        assert await stand.children[-1].wait(5) == 0
        for journal in stand.folder.glob("journal/*"):
            journal.unlink()


async def test_no_token_is_left_in_the_folder(stand: Stand) -> None:
    await play(stand.plan(resources=2), stand.spawn, within_seconds=30)
    left = [path.read_bytes() for path in stand.folder.rglob("*") if path.is_file()]
    assert left
    assert not any(b"token-" in content for content in left)
