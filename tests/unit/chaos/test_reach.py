"""What a lab has decides which faults it offers, and which of them may not come together."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, cast

import pytest

from chaos.fault import Reach
from chaos.faults import Clock, Cut, Kill, LimitData, Pause, ProviderFault, at, throughout, when
from chaos.network import Link
from chaos.schedule import clashing

if TYPE_CHECKING:
    from chaos.network import Network
    from chaos.parts import Part


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
    assert "break pg-a at the same time" in clashing(
        [both, at(seconds=2, inject=Cut("pg-a"), heal_after=2)], lab
    )
    assert clashing([both, at(seconds=3, inject=Cut("pg-a"), heal_after=2)], lab) == ""
    assert clashing([both, at(seconds=2, inject=Cut("redis"), heal_after=2)], lab) == ""
    assert clashing([both, throughout(inject=Cut("pg-b"))], lab)


class Named:
    """A part that has only its name."""

    def __init__(self, name: str) -> None:
        self.name = name


def parts(*names: str) -> Reach:
    return Reach(parts={name: cast("Part", Named(name)) for name in names})


def test_faults_of_one_process_may_not_overlap() -> None:
    lab = parts("node-a", "node-b", "worker-expiry-1", "worker-notifier-1")
    kill = at(seconds=1, inject=Kill("node"), heal_after=2)
    assert "break node-a at the same time" in clashing(
        [kill, at(seconds=2, inject=Pause("node-a"), heal_after=2)], lab
    )
    assert clashing([kill, at(seconds=2, inject=Pause("worker"), heal_after=2)], lab) == ""
    assert clashing([kill, throughout(inject=Clock("node", 60))], lab) == ""
    leader = when("progress", at_least=0.5, inject=Kill("leader"), heal_after=1)
    assert "break worker-expiry-1 at the same time" in clashing(
        [leader, at(seconds=1, inject=Pause("worker"), heal_after=1)], lab
    )


def test_a_lab_without_the_process_or_the_provider_does_not_offer_the_fault() -> None:
    lab = parts("node-a", "worker-expiry-1")
    assert Kill("node-a").unavailable(lab) == ""
    assert "needs a process 'node-b' that this lab started; there are: node-a" in Kill("node-b").unavailable(
        lab
    )
    assert "needs a process 'leader'" in Pause("leader").unavailable(lab)
    assert "needs a provider 'payment'; there are: none" in ProviderFault("payment", "down").unavailable(lab)


@pytest.mark.parametrize(
    ("link", "way", "most_bytes"),
    [
        ("pg-a", "downstream", 9_000),
        ("pg-workers", "upstream", 9_000),
        ("redis-a", "downstream", 9_000),
        ("redis-a", "upstream", 60_000),
        ("edge-a", "downstream", 200_000),
        ("edge-a", "upstream", 60_000),
        ("notification", "downstream", 15_000),
        ("payment", "upstream", 1_000_000),
    ],
)
def test_a_limit_is_offered_as_far_as_a_probe_can_pass_it(
    link: str, way: Literal["upstream", "downstream"], most_bytes: int
) -> None:
    lab = dataclasses.replace(reach(link), network=cast("Network", object()))
    assert LimitData(link, limit_bytes=most_bytes - 1, stream=way).unavailable(lab) == ""
    assert f"could not be shown: a probe there has at most {most_bytes} bytes pass {way}" in LimitData(
        link, limit_bytes=most_bytes, stream=way
    ).unavailable(lab)


def test_a_lab_without_the_link_does_not_offer_the_fault() -> None:
    assert "has none" in LimitData("pg").unavailable(reach("pg-a"))
    assert "has none" in Cut("pg").unavailable(reach("pg-a"))
