"""A provider by itself: its ledger outlives it, and its answers follow from the ledger."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from chaos.providers import ledger
from chaos.providers.behaviour import Behaviour
from chaos.providers.http import Request
from chaos.providers.ledger import Ledger
from chaos.providers.simulator import CallerAlive, Simulator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from chaos.providers.http import Reply


@contextmanager
def providing(path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `python -m chaos.providers` on a free port."""
    command = [sys.executable, "-m", "chaos.providers", "notification", "--ledger", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        said = process.stdout.readline()
        yield process, int(said.split(":")[2].split("/")[0])
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


def post(port: int, path: str, key: str, body: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", path, body, {"Idempotency-Key": key})
    answer = connection.getresponse()
    result = json.loads(answer.read())["result"]
    connection.close()
    return answer.status, result


def test_a_provider_knows_what_it_accepted_before_it_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "ledgers" / "notification.jsonl"
    with providing(path) as (process, port):
        assert post(port, "/worker-notifier-1/notifications", "d-1", '{"to":"ä"}') == (200, "accepted")
        assert post(port, "/worker-notifier-2/notifications", "d-1", '{"to":"ä"}') == (200, "duplicate")
        process.kill()
        process.wait(10)
    with path.open("ab") as torn:
        torn.write(b'{"provider":"notific')
    with providing(path) as (process, port):
        assert post(port, "/worker-notifier-1/notifications", "d-1", "{}") == (200, "duplicate")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_a_torn_last_line_was_never_answered_and_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "n.jsonl"
    path.write_bytes(b'{"provider":"n","eff')
    assert ledger.read(path) == []
    with Ledger(path) as kept:
        kept.write(entry("d-1"))
    assert [each.effect for each in ledger.read(path)] == ["d-1"]


def entry(effect: str) -> ledger.Entry:
    return ledger.Entry(
        provider="n", effect=effect, received_ns=1, answer="accepted", payload="{}", caller="w", path="p"
    )


class Nobody:
    """A lab in which nobody can be killed, and that remembers whom it was asked to kill."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def kill(self, caller: str) -> str:
        self.asked.append(caller)
        raise CallerAlive("it is protected")


@pytest.fixture
def simulator(tmp_path: Path) -> Iterator[Simulator]:
    with Ledger(tmp_path / "n.jsonl") as kept:
        yield Simulator(name="n", ledger=kept, lab=Nobody())


async def send(simulator: Simulator, key: str, path: str = "/worker-1/send") -> str | None:
    headers = {"idempotency-key": key}
    reply: Reply | None = await simulator.treat(Request(method="POST", path=path, headers=headers))
    return None if reply is None else reply.body["result"]


@pytest.mark.parametrize(
    ("does", "first", "again", "healed"),
    [
        ("accept", "accepted", "duplicate", "duplicate"),
        ("retry", "failed", "failed", "accepted"),
        ("decline", "declined", "declined", "declined"),
        ("refuse", "failed", "failed", "failed"),
        ("late", "accepted", "duplicate", "duplicate"),
        ("drop_reply", None, None, "duplicate"),
        ("kill_caller", None, "duplicate", "duplicate"),
    ],
)
async def test_a_behaviour_answers_the_first_the_repeated_and_the_later_request(
    simulator: Simulator, does: str, first: str | None, again: str | None, healed: str
) -> None:
    await simulator.behave(Behaviour(does=does, by_ms=1))  # type: ignore[arg-type]  # each is one of them
    assert (await send(simulator, "d-1"), await send(simulator, "d-1")) == (first, again)
    await simulator.behave(Behaviour())
    assert await send(simulator, "d-1") == healed


async def test_only_the_first_so_many_of_a_path_and_a_prefix_are_concerned(simulator: Simulator) -> None:
    await simulator.behave(Behaviour(does="retry", times=2, only="d-", path="send"))
    assert await send(simulator, "e-1") == "accepted"
    assert await send(simulator, "d-0", "/worker-1/other") == "accepted"
    assert [await send(simulator, f"d-{n}") for n in (1, 2, 3)] == ["failed", "failed", "accepted"]
    assert (await simulator.behave(Behaviour())).requests == 2


async def test_a_kill_is_asked_for_once_and_its_failure_is_told(simulator: Simulator) -> None:
    await simulator.behave(Behaviour(does="kill_caller"))
    assert await send(simulator, "d-1") is None
    assert isinstance(simulator.lab, Nobody)
    assert simulator.lab.asked == ["worker-1"]
    met = await simulator.behave(Behaviour())
    assert met.callers == ("worker-1",)
    assert met.killed == ("worker-1 was not killed: it is protected",)


async def test_a_probe_leaves_no_trace(simulator: Simulator, tmp_path: Path) -> None:
    await simulator.behave(Behaviour(does="drop_reply"))
    assert await send(simulator, "probe", "/probe/") is None
    assert (await simulator.behave(Behaviour())).requests == 0
    assert await send(simulator, "probe", "/probe/") == "accepted"
    assert ledger.read(tmp_path / "n.jsonl") == []
