"""A box office that decides holds in memory, load processes without a lab, and plans to play against them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from scenarios.arrivals import Schedule, barrier
from scenarios.plan import LoadPlan, lay_plan, people
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import Actor, Node, Stage, Subject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from pathlib import Path

REFUSED_IN_CHUNKS = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'a\r\n{"code":"C\r\n12\r\nAPACITY_EXHAUSTED"\r\n1\r\n}\r\n0\r\n\r\n'
)


@dataclass(eq=False)
class BoxOffice:
    """A small HTTP server with one seat a resource; `behave` may answer a hold otherwise, by what it returns.

    `behave(path, key)` returns None for an honest answer, "silence", "reset", "eof", "malformed", "crumbs" (a refusal
    in chunks, a few bytes at a time) or a status and body.
    """

    behave: Callable[[str, str], str | tuple[int, dict[str, Any]] | None] = lambda _path, _key: None
    taken: dict[str, str] = field(default_factory=dict)
    keys: Counter[str] = field(default_factory=Counter)
    bodies: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    delay_seconds: float = 0.0
    serving: set[asyncio.Task[Any]] = field(default_factory=set)

    async def close(self) -> None:
        """End every conversation, those kept silent too."""
        for task in list(self.serving):
            task.cancel()
        await asyncio.gather(*list(self.serving), return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            await self._converse(reader, writer)
        finally:
            self.serving.discard(task)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path = lines[0].split(" ")[1]
                if not await self._respond(writer, path, headers, json.loads(body or b"{}")):
                    break

    async def _respond(
        self, writer: asyncio.StreamWriter, path: str, headers: Mapping[str, str], body: Any
    ) -> bool:
        if path == "/health/live":
            return _write(writer, 200, {"status": "live"})
        key = headers.get("idempotency-key", "")
        self.keys[key] += 1
        self.bodies.append((path, body))
        told = self.behave(path, key)
        if isinstance(told, str):
            return await _misbehave(writer, told)
        if isinstance(told, tuple):
            return _write(writer, *told, replayed=self.keys[key] > 1)
        await asyncio.sleep(self.delay_seconds)
        resource = path.split("/")[3]
        if self.taken.setdefault(resource, key) == key:
            return _write(writer, 201, {"id": 1_000 + int(resource)})
        return _write(writer, 409, {"code": "CAPACITY_EXHAUSTED", "message": "no seat is left"})


async def _misbehave(writer: asyncio.StreamWriter, how: str) -> bool:
    """Answer badly, and return whether the connection goes on."""
    if how == "silence":
        await asyncio.sleep(3600)
    elif how == "reset":
        writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
    elif how == "malformed":
        writer.write(b"HTP/9 what?\r\n\r\n")
    elif how == "crumbs":
        for crumb in re.findall(rb"(?s).{1,7}", REFUSED_IN_CHUNKS):
            writer.write(crumb)
            await asyncio.sleep(0)
        return True
    return False


def _write(
    writer: asyncio.StreamWriter, status: int, document: dict[str, Any], *, replayed: bool = False
) -> bool:
    body = json.dumps(document).encode()
    writer.write(
        b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nIdempotency-Replayed: %b\r\nContent-Length: %d\r\n\r\n%b"
        % (status, b"true" if replayed else b"false", len(body), body)
    )
    return True


@dataclass(eq=False)
class LocalChild:
    """A load process without a lab."""

    process: asyncio.subprocess.Process
    log: Path

    @property
    def exited(self) -> bool:
        return self.process.returncode is not None

    async def wait(self, within_seconds: float) -> int:
        return await asyncio.wait_for(self.process.wait(), within_seconds)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)


@dataclass(eq=False)
class Stand:
    """Where a test plays: a folder, two doors to the box office, and the load processes it started."""

    folder: Path
    office: BoxOffice
    nodes: tuple[Node, Node]
    children: list[LocalChild] = field(default_factory=list)

    async def spawn(self, role: str, argv: Sequence[str], *, env: Mapping[str, str]) -> LocalChild:
        log = self.folder / f"{role}.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *argv,
                env={**os.environ, **env},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.children.append(LocalChild(process, log))
        return self.children[-1]

    def plan(
        self,
        arrivals: Schedule | None = None,
        *,
        habits: Mapping[str, float] | None = None,
        resources: int = 20,
        deadline_seconds: float = 5.0,
        buyers_max: int = 500,
        apart: bool = False,
    ) -> LoadPlan:
        scenario = Scenario(
            name="box_office",
            story="A box office.",
            sale=Sale(resources=resources, capacity=1),
            crowd=Crowd(
                habits=habits or {"racer": 0.5, "careful_racer": 0.5},
                arrivals=arrivals or barrier(resources, width=10),
                deadline_seconds=deadline_seconds,
                buyers_max=buyers_max,
            ),
            invariants=(),
            assumptions=(),
        )
        stage = Stage(
            resources=tuple(
                Subject(id=str(n), values={"resource": n, "revision": 0}) for n in range(resources)
            ),
            actors=tuple(
                Actor(owner=f"buyer-{n}", tenant="t", values={"token": f"token-{n}"})
                for n in range(people(scenario, 1))
            ),
        )
        played = scenario.without_barrier() if apart else scenario
        return lay_plan(
            played, run="run-1", seed=1, nodes=self.nodes, target=Builtin(), stage=stage, folder=self.folder
        )


@pytest.fixture
async def stand(tmp_path: Path) -> AsyncIterator[Stand]:
    """A box office with two doors, and nothing left of the load afterwards."""
    (tmp_path / "journal").mkdir()
    office = BoxOffice()
    doors = [await asyncio.start_server(office.serve, "127.0.0.1", 0) for _ in range(2)]
    ports = [door.sockets[0].getsockname()[1] for door in doors]
    a, b = (
        Node(label=label, host="127.0.0.1", port=port)
        for label, port in zip(("node-a", "node-b"), ports, strict=True)
    )
    made = Stand(tmp_path, office, (a, b))
    yield made
    for child in made.children:
        child.signal(signal.SIGKILL)
        await child.wait(5)
    for door in doors:
        door.close()
    await office.close()
