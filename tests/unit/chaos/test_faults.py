"""Faults are spelled, read and refused in plain words."""

from __future__ import annotations

import dataclasses

import pytest

from chaos.faults import (
    KINDS,
    Bandwidth,
    Blackhole,
    Cut,
    FaultSpellingError,
    Latency,
    LimitData,
    LostReply,
    Reset,
    Slicer,
    SlowClose,
    at,
    parse,
    throughout,
)
from chaos.network import Link
from chaos.schedule import Reach, clashing

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
        ("latency:pg=100", throughout(inject=Latency("pg", ms=100))),
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
        ("latency:pg=-5ms", "'-5ms' where a number"),
        ("latency:pg=0ms", "ms of latency:pg must be at least 1"),
        ("latency:pg=10ms,jiter=2ms", "'jiter=2ms' where latency takes a value, jitter=…"),
        ("cut:redis=2s", "'2s' where cut takes no value"),
        ("cut:redis/upstream", "stream of cut:redis must be both"),
        ("latency:pg/sideways=1ms", "must be downstream or upstream or both"),
        ("cut:redis@2s", "a fault that cannot be read"),
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


def test_a_timed_fault_must_be_healed_by_the_clock() -> None:
    with pytest.raises(ValueError, match="use throughout"):
        at(seconds=1.0, inject=Cut("redis"), heal_after=float("inf"))


def reach(*names: str) -> Reach:
    links = {name: Link(name=name, host="127.0.0.1", port=1, upstream="127.0.0.1:2") for name in names}
    return Reach(links=links)


def test_a_group_is_every_link_whose_name_begins_with_it() -> None:
    lab = reach("pg-a", "pg-b", "pgbouncer", "redis-a")
    assert [link.name for link in lab.group("pg")] == ["pg-a", "pg-b"]
    assert [link.name for link in lab.group("pg-b")] == ["pg-b"]


def test_overlapping_cuts_of_one_link_are_named() -> None:
    lab = reach("pg-a", "pg-b", "redis-a")
    both = at(seconds=1, inject=Cut("pg"), heal_after=2)
    assert "cut pg-a at the same time" in clashing(
        [both, at(seconds=2, inject=Cut("pg-a"), heal_after=2)], lab
    )
    assert clashing([both, at(seconds=3, inject=Cut("pg-a"), heal_after=2)], lab) == ""
    assert clashing([both, at(seconds=2, inject=Cut("redis"), heal_after=2)], lab) == ""
    assert clashing([both, throughout(inject=Cut("pg-b"))], lab)


def test_a_lab_without_the_link_does_not_offer_the_fault() -> None:
    assert "has none" in Cut("pg").unavailable(reach("pg-a"))
