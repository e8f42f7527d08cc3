"""What every part of the lab shares: its turns, and the words for how a process ended."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import RedisError

from chaos.parts import PartError
from lastseat.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from lastseat.children import Child

Done = TypeVar("Done")
TERMINATE_SECONDS = 10.0


@dataclass(slots=True)
class Turns:
    """Does one thing after the other, each to its end also when whoever asked is cancelled."""

    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _work: set[asyncio.Future[Any]] = field(default_factory=set)

    async def take(self, name: str, work: Callable[[], Coroutine[Any, Any, Done]]) -> Done:
        """Do it in turn. Raises PartError instead of a LabError."""

        async def in_turn() -> Done:
            async with self._lock:
                return await work()

        task = asyncio.ensure_future(in_turn())
        self._work.add(task)
        task.add_done_callback(self._forget)
        try:
            return await asyncio.shield(task)
        except (LabError, RedisError) as problem:
            said = (
                problem.message if isinstance(problem, LabError) else problem
            )  # without the log's last lines
            raise PartError(f"{name}: {said}") from problem

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._work.discard(task)
        if not task.cancelled():
            task.exception()  # read, so that it is not reported as lost when nobody waits any more


def running(child: Child) -> Child:
    """Return a child that runs. Raises PartError."""
    if child.exited:
        raise PartError(f"{child.role} has ended already, with exit code {child.exit_code}")
    return child


def present(child: Callable[[], Child]) -> Child:
    """Return the child that a server is. Raises PartError when it has ended."""
    try:
        return child()
    except LabError as problem:
        raise PartError(problem.message) from problem


def is_running(child: Callable[[], Child]) -> bool:
    """Tell whether the child that a server is has not ended."""
    try:
        return not child().exited
    except LabError:
        return False


async def asked_to_end(child: Child) -> str:
    """Ask a child to end, and kill it where it does not; say how it ended. Raises LabError if it had to be killed."""
    try:
        return ended(await child.terminate(TERMINATE_SECONDS))
    except LabError:
        await child.kill()
        raise


def ended(code: int | None) -> str:
    """Say how a reaped process ended."""
    return (
        f"was killed by signal {-code} and reaped"
        if code and code < 0
        else f"ended with exit code {code} and was reaped"
    )
