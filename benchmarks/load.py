"""What a request costs the load process: the lean client against Locust's own FastHttpUser, in the same run.

Both send the same hold to the same small server from the same number of greenlets inside a Locust environment, and both
fire Locust's request event; ours journals each operation and keeps a true deadline as well. CPU time of the client's
process is compared, not the wall clock, so that the server's pace does not matter. Also printed: how late the dispatcher
wakes on its timerfd and with `gevent.sleep`.

    python benchmarks/load.py [--requests 20000] [--rounds 3]
"""

from __future__ import annotations

from locust import FastHttpUser  # isort: skip — before anything else: it patches sockets and threads
from locust.env import Environment  # isort: skip

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gevent

from scenarios.arrivals import steady
from scenarios.dispatch.alarm import Alarm
from scenarios.dispatch.client import Client
from scenarios.journal import Header, Journal
from scenarios.plan import LoadPlan
from scenarios.recorder import Recorder
from scenarios.targets.builtin import Builtin
from scenarios.targets.builtin_actions import ACTIONS
from scenarios.targets.target import Actor, Node, Stage, Subject

GREENLETS = 20
TOKEN = "e" * 180
SERVER = Path(__file__).parent / "one_hold_server.py"


def lean(port: int, requests: int) -> float:
    """Return the CPU seconds of the lean client."""
    node = Node(label="a", host="127.0.0.1", port=port)
    actor = Actor(owner="buyer-1", tenant="t", values={"token": TOKEN})
    plan = LoadPlan(
        run="benchmark",
        scenario="benchmark",
        seed=1,
        nodes=(node,),
        actions=dict(ACTIONS),
        warm=Builtin.warm,
        habits={"racer": 1.0},
        schedule=steady(rate=1, seconds=1),
        stage=Stage(resources=(Subject(id="7", values={"resource": 7}),), actors=(actor,)),
        journal="",
        operations_max=requests + GREENLETS,
        arrivals=requests,
        seconds=0.0,
        deadline_seconds=5.0,
        buyers_max=GREENLETS,
    )
    environment = Environment()
    environment.create_local_runner()
    kinds = tuple(dict.fromkeys(action.kind for action in ACTIONS.values()))
    with tempfile.TemporaryDirectory() as folder:
        header = Header(
            run="b", shard=0, capacity=plan.operations_max, kinds=kinds, nodes=("a",), tenants=("t",)
        )
        client = Client(plan, Journal(Path(folder) / "0.bin", header), Recorder(environment))

        def buyer(first: int) -> None:
            for number in range(first, requests, GREENLETS):
                prepared = client.prepare(
                    "hold", node=0, actor=actor, values={"resource": 7}, key=f"run-{number}", arrival=number
                )
                client.exchange(prepared, time.monotonic_ns())

        return _cpu([gevent.spawn(buyer, first) for first in range(GREENLETS)])


def fast(port: int, requests: int) -> float:
    """Return the CPU seconds of FastHttpUser."""
    environment = Environment()
    environment.create_local_runner()

    class Buyer(FastHttpUser):
        host = f"http://127.0.0.1:{port}"

    def buyer(first: int) -> None:
        client = Buyer(environment).client
        for number in range(first, requests, GREENLETS):
            headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": f"run-{number}"}
            answer = client.post("/api/resources/7/holds", json={}, headers=headers, name="hold")
            if answer.json()["id"] != 4711:  # noqa: PLR2004 — the one hold there is
                raise RuntimeError("an answer was lost")

    return _cpu([gevent.spawn(buyer, first) for first in range(GREENLETS)])


def _cpu(greenlets: list[gevent.Greenlet]) -> float:
    began = time.process_time()
    gevent.joinall(greenlets, raise_error=True)
    return time.process_time() - began


def lateness() -> tuple[list[int], list[int]]:
    """Return how many ns late the timerfd and `gevent.sleep` woke, 200 times each."""
    alarm, timed, slept = Alarm(), [], []
    for _ in range(200):
        timed.append(alarm.until(time.monotonic_ns() + 2_300_000))
        due = time.monotonic_ns() + 2_300_000
        gevent.sleep(0.0023)
        slept.append(time.monotonic_ns() - due)
    return timed, slept


def compare(requests: int, rounds: int) -> None:
    """Run both clients in turn, each in a process of its own, and print what they cost."""
    server = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
    try:
        port = server.stdout.readline().strip() if server.stdout else ""
        cost: dict[str, list[float]] = {"lean": [], "fast": []}
        for _ in range(rounds):
            for kind, seconds in cost.items():
                command = [sys.executable, __file__, kind, "--port", port, "--requests", str(requests)]
                told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
                seconds.append(float(told.stdout) / requests * 1e6)
        ours, theirs = statistics.median(cost["lean"]), statistics.median(cost["fast"])
        print(
            f"lean client    {ours:6.1f} µs of CPU a request (journal, deadline and Locust's event included)"
        )
        print(f"FastHttpUser   {theirs:6.1f} µs of CPU a request")
        print(f"ratio          {theirs / ours:6.2f}")
        for name, late in zip(("timerfd", "gevent.sleep"), lateness(), strict=True):
            fifty, ninety_nine = statistics.median(late), sorted(late)[int(len(late) * 0.99)]
            print(f"{name:13}  {fifty / 1e3:6.0f} µs late at p50, {ninety_nine / 1e3:.0f} at p99")
    finally:
        server.kill()
        server.wait()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=["lean", "fast", "compare"], default="compare")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.part == "compare":
        compare(given.requests, given.rounds)
    else:
        print({"lean": lean, "fast": fast}[given.part](given.port, given.requests))


if __name__ == "__main__":
    main()
