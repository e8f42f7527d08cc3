"""Faults are spelled, read and refused in plain words."""

from __future__ import annotations

import dataclasses

import pytest

from chaos.faults import (
    KINDS,
    Bandwidth,
    Blackhole,
    Clock,
    Crash,
    CrashAt,
    Cut,
    FaultSpellingError,
    Flush,
    Kill,
    Latency,
    LimitData,
    LostReply,
    Pause,
    ProviderFault,
    Reset,
    Restart,
    Rollback,
    Slicer,
    SlowClose,
    Terminate,
    at,
    every,
    parse,
    throughout,
    when,
)
from chaos.launch_faults import launch_options, without_crash_points

SPELLINGS = [
    ("latency:pg=100ms", throughout(inject=Latency("pg", ms=100))),
    ("latency:pg/both=100ms,jitter=20ms", throughout(inject=Latency("pg", ms=100, jitter_ms=20, stream="both"))),
    ("cut:redis@2s+2s", at(seconds=2.0, inject=Cut("redis"), heal_after=2.0)),
    ("blackhole:pg-a/upstream@1s+0.5s", at(seconds=1.0, inject=Blackhole("pg-a", stream="upstream"), heal_after=0.5)),
    ("bandwidth:redis=64KB/s", throughout(inject=Bandwidth("redis", kilobytes_per_second=64))),
    ("slow_close:edge=300ms", throughout(inject=SlowClose("edge", ms=300))),
    ("reset:edge-b=50ms", throughout(inject=Reset("edge-b", after_ms=50))),
    ("slicer:edge=16B,vary=4B,pause=500us", throughout(inject=Slicer("edge", size_bytes=16, vary_bytes=4, pause_us=500))),
    ("limit_data:pg=100B", throughout(inject=LimitData("pg", limit_bytes=100))),
    ("lost_reply:edge@0s+1s", at(seconds=0, inject=LostReply("edge"), heal_after=1)),
    ("kill:node-a@progress=50%+1s", when("progress", at_least=0.5, inject=Kill("node-a"), heal_after=1)),
    ("pause:leader@1s+0.5s", at(seconds=1, inject=Pause("leader"), heal_after=0.5)),
    ("terminate:worker-notifier@0s+1s", at(seconds=0, inject=Terminate("worker-notifier"), heal_after=1)),
    ("restart:redis@2s", at(seconds=2, inject=Restart("redis"))),
    ("crash:postgres@2s+1s", at(seconds=2, inject=Crash("postgres"), heal_after=1)),
    ("flush:redis@2s", at(seconds=2, inject=Flush("redis"))),
    ("rollback:redis=250ms@progress=25%", when("progress", at_least=0.25, inject=Rollback("redis", lost_ms=250))),
    ("clock:node-b=+3600s", throughout(inject=Clock("node-b", 3600))),
    ("clock:worker=-60s", throughout(inject=Clock("worker", -60))),
    ("crash_at:worker-notifier=service.reservation.outbox:claim:after:2", throughout(inject=CrashAt("worker-notifier", "service.reservation.outbox:claim:after:2"))),
    ("provider:notification=down@1s+2s", at(seconds=1, inject=ProviderFault("notification", "down"), heal_after=2)),
    ("provider:notification=late,by=300ms", throughout(inject=ProviderFault("notification", "late", by_ms=300))),
    ("provider:payment=kill_caller,times=1,path=charges", throughout(inject=ProviderFault("payment", "kill_caller", times=1, path="charges"))),
]  # fmt: skip


@pytest.mark.parametrize(("spelled", "planned"), SPELLINGS)
def test_a_spelling_is_read_and_written_back(spelled: str, planned: object) -> None:
    assert parse(spelled) == planned
    assert parse(spelled).name == spelled


def test_every_kind_has_a_spelling_that_is_tested() -> None:
    assert {spelled.partition(":")[0] for spelled, _ in SPELLINGS} == set(KINDS)


@pytest.mark.parametrize(
    ("spelled", "planned"),
    [
        ("latency:pg=0.1s", throughout(inject=Latency("pg", ms=100))),
        ("bandwidth:pg=2MB/s", throughout(inject=Bandwidth("pg", kilobytes_per_second=2_000))),
        ("reset:edge", throughout(inject=Reset("edge"))),
        (" cut:redis@500ms+250ms ", at(seconds=0.5, inject=Cut("redis"), heal_after=0.25)),
    ],
)
def test_other_units_and_left_out_values_are_read(spelled: str, planned: object) -> None:
    assert parse(spelled) == planned


@pytest.mark.parametrize(
    ("spelled", "problem"),
    [
        ("latency", "a fault that cannot be read"),
        ("lateness:pg=100ms", "unknown kind 'lateness' (known: bandwidth, blackhole, cut, latency"),
        ("latency:pg", "no value, though latency needs one"),
        ("latency:pg=100KB", "'100KB' where a number in ms or s belongs"),
        ("latency:pg=100", "'100' where a number in ms or s belongs"),
        ("latency:pg=100ms,jitter=20", "'20' where a number in ms or s belongs"),
        ("cut:redis@2+2s", "'2' where a number in s or ms belongs"),
        ("kill:node-a@progress=50+1s", "'50' where a number in % belongs"),
        ("clock:node-b=+3600", "'3600' where a number in s or ms belongs"),
        ("latency:pg=-5ms", "'-5ms' where a number"),
        ("latency:pg=0ms", "ms of latency:pg must be at least 1"),
        ("latency:pg=10ms,jiter=2ms", "'jiter=2ms' where latency takes a value, jitter=…"),
        ("cut:redis=2s", "'2s' where cut takes no value"),
        ("cut:redis/upstream", "stream of cut:redis must be both: it ends whole connections"),
        ("limit_data:pg/both=1KB", "must be downstream or upstream: what ends first hides the other"),
        ("slicer:pg/both=16B", "must be downstream or upstream: pauses in one direction would pass"),
        ("reset:pg/both", "must be downstream or upstream: upstream resets the connection before any reply"),
        ("lost_reply:edge/upstream", "must be downstream: a reply comes downstream"),
        ("latency:pg/sideways=1ms", "must be downstream or upstream or both"),
        ("cut:redis@2s", "no duration, though cut must be healed"),
        ("flush:redis@2s+1s", "flush:redis is over at once: it needs an instant, and no duration"),
        ("kill:postgres@1s+1s", "kill can be done to node, worker, redis, not to 'postgres'"),
        ("kill:node-a/upstream@1s+1s", "'/upstream', though kill breaks no link"),
        ("crash:node-a@1s+1s", "crash can be done to postgres"),
        ("clock:node-b=+3600s@1s+1s", "is set when the process starts: it can only hold for the whole load"),
        ("clock:node-b=1s", "clock:node-b=+1s must be 5 s or more"),
        ("clock:node-b", "no value, though clock needs one"),
        ("kill:node-a@progress=0%+1s", "progress must be waited for until above 0 %"),
        ("kill:node-a@progress=half+1s", "'half' where a number in % belongs"),
        ("crash_at:node-a=holds", "'holds' is not of the form MODULE:FUNCTION[:before|after][:N]"),
        ("provider:notification=sleep", "does of provider:notification must be retry or decline or"),
        ("provider:notification=late", "late needs by=…ms"),
        ("provider:notification=down,times=x", "'x' where a number belongs"),
        ("cut:redis@2s+0s", "must begin at or after 0 s and last longer than 0 s"),
    ],
)
def test_an_unreadable_fault_is_refused_with_what_to_write(spelled: str, problem: str) -> None:
    with pytest.raises(FaultSpellingError) as refused:
        parse(spelled)
    assert problem in str(refused.value)
    assert repr(spelled) in str(refused.value)
    assert "for example latency:pg=100ms" in str(refused.value)


def test_a_fault_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cut("redis").where = "pg"  # type: ignore[misc]  # that is the test


def test_a_flapping_fault_comes_again_and_again_and_is_healed_in_between() -> None:
    flapping = every(seconds=0.5, first=1, until=2.5, inject=Cut("redis"), heal_after=0.2)
    assert [planned.name for planned in flapping] == [
        "cut:redis@1s+0.2s",
        "cut:redis@1.5s+0.2s",
        "cut:redis@2s+0.2s",
    ]
    with pytest.raises(ValueError, match="is not healed before it comes again"):
        every(seconds=0.5, first=1, until=2.5, inject=Cut("redis"), heal_after=0.5)
    with pytest.raises(ValueError, match="cannot come every 0 s"):
        every(seconds=0, first=1, until=2.5, inject=Flush("redis"))


def test_a_lasting_fault_needs_to_be_healed_and_one_that_is_over_at_once_does_not() -> None:
    with pytest.raises(ValueError, match="pause:postgres needs heal_after"):
        at(seconds=1, inject=Pause("postgres"))
    assert at(seconds=1, inject=Flush("redis")).ends == 1


@pytest.mark.parametrize("fault", [Pause("node-a"), Blackhole("redis")], ids=str)
def test_what_is_shown_by_silence_must_last_longer_than_silence_takes(fault: Pause | Blackhole) -> None:
    assert at(seconds=1, inject=fault, heal_after=0.5).ends == 1.5
    with pytest.raises(ValueError, match=f"{fault} must last 0.5 s or more: sooner nothing could show it"):
        at(seconds=1, inject=fault, heal_after=0.4)


def test_a_timed_fault_must_be_healed_by_the_clock() -> None:
    with pytest.raises(ValueError, match="use throughout"):
        at(seconds=1.0, inject=Cut("redis"), heal_after=float("inf"))


def test_the_launcher_is_told_of_clocks_that_are_wrong_throughout() -> None:
    schedule = [throughout(inject=Clock("node", 60)), throughout(inject=Clock("worker-expiry", -60))]
    assert launch_options(schedule, "node-b") == ("--clock-offset=60",)
    assert launch_options(schedule, "worker-notifier-1") == ()


def test_a_process_that_is_started_again_has_no_crash_point_any_more() -> None:
    (option,) = launch_options([throughout(inject=CrashAt("node", "a.b:c"))], "node-b")
    command = ("python", "-m", "chaos.launch", option, "--clock-offset=60", "--", "a.b")
    assert without_crash_points(command) == ("python", "-m", "chaos.launch", "--clock-offset=60", "--", "a.b")
