"""Plain holds a second over HTTP, beside pgbench running the same statement on the same server in the same run.

A node of the service and 16 keep-alive connections to it, in a lab of real servers: all for one resource (hot row), or
for one of a thousand (spread), each hold committed by itself; and for one resource with those that wait decided together.
The rounds of all kinds take turns, so that a busy minute of the machine falls on all of them; medians are printed. Last,
what an absent Redis adds to a hold's p99 once the circuit breaker has opened.

    python benchmarks/service.py [--rounds 5] [--seconds 4] [--clients 16]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import secrets
import statistics
import sys
import tempfile
import time
import urllib.request
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pgbench
from callers import BenchmarkError, call
from kinds import Kind, show

from lastseat.errors import LabError
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from scenarios.scenario import Sale
from scenarios.targets.builtin import TENANT, Builtin
from service.reservation.holds import OPERATION, SQL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from callers import Tally

    from lastseat.nodes import Deployment
    from scenarios.targets.target import Actor

SPREAD: Final = 1_000
CAPACITY: Final = 1_000_000
POOL: Final = 16
QUIET_CLIENTS: Final = 4  # a p99 of a queue that is always full is the queue's
BREAKER_SECONDS: Final = 10.0
GOAL_REDIS_MS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A lab with two nodes on one database: one decides each hold by itself, the other those that wait together."""

    lab: Lab
    dsn: str
    separate: Deployment
    together: Deployment
    buyers: Sequence[Actor]
    hot: int
    spread: range
    clients: int
    seconds: int

    @classmethod
    @asynccontextmanager
    async def set_up(cls, folder: Path, *, clients: int, seconds: int) -> AsyncIterator[Bench]:
        """Bring everything up, with a resource for the rush and a thousand for the spread."""
        target, sale = Builtin(), Sale(resources=1 + SPREAD, capacity=CAPACITY)
        environment = {**target.environment(sale), "RESERVATION_POOL_CONNECTIONS_MIN": str(POOL)}
        async with Lab.start(folder=folder, with_toxiproxy=False) as lab:
            dsn = await lab.create_database("benchmark")
            alone = Deployer(lab=lab, environment=environment)
            await alone.migrate(dsn)
            joint = Deployer(lab=lab, environment={**environment, "RESERVATION_HOLDS_TOGETHER": "true"})
            async with alone.deploy(dsn, 1) as separate, joint.deploy(dsn, 1) as together:
                stage = await target.prepare(separate.nodes, sale, run=secrets.token_hex(4), actors=clients)
                hot, *spread = sorted(int(subject.id) for subject in stage.resources)
                yield cls(
                    lab=lab, dsn=dsn, separate=separate, together=together, buyers=stage.actors, hot=hot,
                    spread=range(spread[0], spread[-1] + 1), clients=clients, seconds=seconds,
                )  # fmt: skip

    async def holds(self, deployment: Deployment, resources: range, *, clients: int | None = None) -> Tally:
        """Take holds over HTTP for one round."""
        run = secrets.token_hex(4)
        requests = [
            _requests(str(buyer.values["token"]), resources, f"{run}-{number}")
            for number, buyer in enumerate(self.buyers[: clients or self.clients])
        ]
        return await call(deployment.nodes[0].port, requests, seconds=self.seconds)

    async def statement(self, resources: range) -> float:
        """Return how often a second pgbench runs the statement behind a plain hold."""
        draws = {
            "key": "random(1000000000000, 9000000000000000000)",
            "resource": f"random({resources[0]}, {resources[-1]})",
        }
        values = {
            "tenant": TENANT,
            "operation": OPERATION,
            "fingerprint": "f" * 64,
            "owner": "0" * 64,
            "quantity": "1",
        }
        values |= {"codes": "{}", "statuses": "{}", "bodies": "{}"}
        bench = pgbench.Pgbench(program=pgbench.find(), dsn=self.dsn, clients=self.clients)
        file = self.lab.folder / "take.pgbench"
        file.write_text(pgbench.script(SQL["take"], draws, nulls=("expected", "at")))
        return await bench.run(file, values, seconds=self.seconds)


def _requests(token: str, resources: range, run: str) -> Iterator[bytes]:
    """Make one hold after another, each of a resource drawn at random and under a key of its own."""
    head = f"Host: s\r\nAuthorization: Bearer {token}\r\nContent-Length: 2\r\nIdempotency-Key: {run}-"
    for number in itertools.count():
        resource = random.randrange(resources[0], resources[-1] + 1)
        yield f"POST /api/resources/{resource}/holds HTTP/1.1\r\n{head}{number}\r\n\r\n{{}}".encode()


def kinds(bench: Bench) -> dict[str, Kind]:
    """Return what takes turns."""
    hot = range(bench.hot, bench.hot + 1)

    def over_http(name: str, deployment: Deployment, resources: range) -> Kind:
        node = psutil.Process(next(iter(deployment.children.values())).pid)

        async def once() -> float:
            before = sum(node.cpu_times()[:2])
            tally = await bench.holds(deployment, resources)
            kind.node_micros.append((sum(node.cpu_times()[:2]) - before) / len(tally.latencies) * 1e6)
            return tally.per_second

        kind = Kind(name, once)
        return kind

    return {
        "pgbench hot": Kind("pgbench, hot row", lambda: bench.statement(hot)),
        "hot": over_http("separate, hot row", bench.separate, hot),
        "together": over_http("together, hot row", bench.together, hot),
        "pgbench spread": Kind(f"pgbench, {SPREAD:,} rows", lambda: bench.statement(bench.spread)),
        "spread": over_http(f"separate, {SPREAD:,} rows", bench.separate, bench.spread),
    }


async def without_redis(bench: Bench, rounds: int) -> tuple[list[float], list[float]]:
    """Return the p99 of a hold, in ms, of rounds with Redis and of rounds without it and with the breaker open."""
    there: list[float] = []
    gone: list[float] = []
    for _ in range(rounds):
        for p99s in (there, gone):
            tally = await bench.holds(bench.separate, bench.spread, clients=QUIET_CLIENTS)
            p99s.append(tally.quantile(0.99) * 1e3)
            if p99s is there:
                await bench.lab.valkey.crash()
                await _circuit(bench, open_=True)
        await bench.lab.valkey.restart()
        await _circuit(bench, open_=False)
    return there, gone


async def _circuit(bench: Bench, *, open_: bool) -> None:
    """Send holds until the node's circuit is as it must be; raises BenchmarkError at the deadline."""
    port = bench.separate.nodes[0].port
    deadline = time.monotonic() + BREAKER_SECONDS
    buyer = str(bench.buyers[0].values["token"])
    while time.monotonic() < deadline:
        await call(port, [_requests(buyer, bench.spread, secrets.token_hex(6))], seconds=0.05)
        told = await asyncio.to_thread(_metrics, port)
        if ("reservation_breaker 0.0" in told) != open_:
            return
    raise BenchmarkError(f"the breaker did not {'open' if open_ else 'close'} within {BREAKER_SECONDS:g} s")


def _metrics(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        text: str = answer.read().decode()
        return text


def show_redis(there: list[float], gone: list[float]) -> None:
    """Print what Redis' absence adds."""
    added = statistics.median(gone) - statistics.median(there)
    print(
        f"\nhold p99, {QUIET_CLIENTS} clients, spread: {statistics.median(there):.2f} ms with Redis, ", end=""
    )
    print(f"{statistics.median(gone):.2f} without: {added:+.2f} ms (goal < {GOAL_REDIS_MS:g} ms)")


async def measure(given: argparse.Namespace) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory(prefix="lastseat-benchmark-") as folder:
        async with Bench.set_up(Path(folder), clients=given.clients, seconds=given.seconds) as bench:
            measured = kinds(bench)
            for kind in measured.values():  # connections, plans and caches of everyone, uncounted
                await kind.play()
                kind.forget()
            loads = [os.getloadavg()[0]]
            for _ in range(given.rounds):
                for kind in measured.values():
                    await kind.play()
                loads.append(os.getloadavg()[0])
            print(
                f"{os.cpu_count()} cores, {given.clients} clients, {given.rounds} rounds of {given.seconds} s"
            )
            print(f"load average before and after each round: {' '.join(f'{load:.1f}' for load in loads)}\n")
            show(measured)
            show_redis(*await without_redis(bench, given.rounds))


def main() -> int:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=16)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(measure(parser.parse_args()))
    except (BenchmarkError, LabError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 4
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
