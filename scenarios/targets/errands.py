"""Errands before the doors open: a few requests over a few keep-alive connections, on asyncio, in the runner's process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httptools
import msgspec

from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scenarios.targets.target import Node, Value
    from scenarios.targets.wording import Wording

_READ_BYTES = 65_536
_SHOWN_BYTES = 300


@dataclass(slots=True)
class _Answer:
    """What httptools tells of one answer."""

    body: bytearray = field(default_factory=bytearray)
    complete: bool = False

    def on_body(self, chunk: bytes) -> None:
        self.body += chunk

    def on_message_complete(self) -> None:
        self.complete = True


async def run_errands(
    node: Node,
    wording: Wording,
    errands: Sequence[Mapping[str, Value]],
    *,
    expected_status: int,
    concurrency: int,
    deadline_seconds: float,
) -> list[dict[str, object]]:
    """Send one request for each set of values and return the JSON objects answered, in order.

    Raises TargetError at the first answer that is not `expected_status`, TimeoutError past the deadline.
    """
    answers: list[dict[str, object]] = [{}] * len(errands)
    waiting = list(enumerate(errands))[::-1]

    async def runner() -> None:
        reader, writer = await asyncio.open_connection(node.host, node.port)
        try:
            while waiting:
                number, values = waiting.pop()
                writer.write(wording.word(values).wire)
                answers[number] = await _read(reader, wording, expected_status)
        finally:
            writer.close()

    try:
        async with asyncio.timeout(deadline_seconds), asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(errands))):
                group.create_task(runner())
    except TimeoutError:
        raise TimeoutError(
            f"{wording.action.kind}: {len(waiting)} of {len(errands)} not begun after {deadline_seconds} s"
        ) from None
    except ExceptionGroup as failed:
        first = failed.exceptions[0]
        raise (
            first if isinstance(first, TargetError) else TargetError(f"{wording.action.kind}: {first}")
        ) from first
    return answers


async def _read(reader: asyncio.StreamReader, wording: Wording, expected_status: int) -> dict[str, object]:
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    while not answer.complete:
        chunk = await reader.read(_READ_BYTES)
        if not chunk:
            raise TargetError(f"{wording.action.kind}: the target closed the connection before it answered")
        parser.feed_data(chunk)
    status = parser.get_status_code()
    if status != expected_status:
        shown = bytes(answer.body[:_SHOWN_BYTES]).decode(errors="replace")
        raise TargetError(f"{wording.action.kind}: {status} where {expected_status} was expected: {shown}")
    return msgspec.json.decode(bytes(answer.body), type=dict[str, object])
