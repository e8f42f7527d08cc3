"""The runner's side of the load: start the load processes, give each its part, set t0, and wait for their last word."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from scenarios import control
from scenarios.control import (
    CONTROL_VARIABLE,
    SHARD_VARIABLE,
    Failed,
    Finished,
    Health,
    Hello,
    Part,
    Progress,
    Ready,
    Tally,
)
from scenarios.seat import LoadError, Seat, all_made, listened_to, make

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from scenarios.control import FromLoad
    from scenarios.plan import LoadPlan
    from scenarios.seat import Spawn

__all__ = ["Load", "LoadError", "LoadSummary", "play"]

_LOCUSTFILE = Path(__file__).parent / "locustfile.py"
_LINE_BYTES_MAX = 1 << 20
_HEAD_START_NS = 30_000_000
_STEP_SECONDS = 30.0
SILENCE_SECONDS = 15.0
"""A load process that plays tells of itself several times a second; one that says nothing for so long has stopped."""
_LIFETIME_SECONDS = 7 * 86_400.0


class LoadSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the load processes said: totals, the zero of time and their own health. Instants in CLOCK_MONOTONIC ns."""

    t0_ns: int
    shards: tuple[Finished, ...]
    health: tuple[Health, ...]

    @property
    def tally(self) -> Tally:
        """All operations of all shards."""
        return sum((shard.tally for shard in self.shards), Tally())

    @property
    def ended_ns(self) -> int:
        """When the last operation of the last shard had ended."""
        return max(shard.ended_ns for shard in self.shards)

    @property
    def lag_p99_us(self) -> float:
        """The scheduling lag of the shard that fared worst."""
        return max(shard.lag_p99_us for shard in self.shards)


class Load:
    """The load processes of one run, from their start to their end; `async with Load(...)`, then `play` once.

    They are started at once and take the better part of a second to be up: begin while the lab is being prepared.
    """

    def __init__(self, spawn: Spawn, *, shards: int = 1, within: Path | None = None) -> None:
        """Take the lab's way to start a process, and how many load processes there shall be.

        `within` is the folder for the control socket's own: one that goes with the lab when the runner is killed.
        Processes that were started before anybody knew what for write into `log_folder`, once that is set, as they play.
        """
        self._spawn = spawn
        self._within = within
        self._shards = shards
        self._seats: dict[int, Seat] = {}
        self.log_folder: Path | None = None
        self._on_progress: Callable[[Tally], None] | None = None
        self._leaving = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the control socket and start the processes."""
        folder = self._leaving.enter_context(
            tempfile.TemporaryDirectory(prefix="lastseat-load-", dir=self._within)
        )
        address = str(Path(folder) / "control")
        server = await asyncio.start_unix_server(self._hear, address, limit=_LINE_BYTES_MAX)
        self._leaving.push_async_callback(self._end, server)
        try:
            for shard in range(self._shards):
                await self._seat(shard, address)
        except BaseException:
            await self._leaving.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, by force where they do not go by themselves."""
        await self._leaving.aclose()

    async def play(
        self,
        plan: LoadPlan,
        *,
        within_seconds: float,
        on_zero: Callable[[int], None] | None = None,
        on_progress: Callable[[Tally], None] | None = None,
    ) -> LoadSummary:
        """Play the plan and return how it went, with the journals complete.

        `on_zero` is told t0, a few ms before it comes; `on_progress` the totals, a few times a second. Raises LoadError
        where a load process fails, dies or is not done in time.
        """
        self._on_progress = on_progress
        seats = self._seats.values()
        await all_made(seats, "hello", _STEP_SECONDS, "is not up")
        for seat in seats:
            seat.write_into(self.log_folder)
            own = msgspec.structs.replace(plan, shard=seat.shard, shards=self._shards)
            seat.send(Part(plan=own, log=str(seat.log)))
        await all_made(seats, "ready", _STEP_SECONDS, "has not made ready")
        t0_ns = time.monotonic_ns() + _HEAD_START_NS
        if on_zero is not None:
            on_zero(t0_ns)
        for seat in seats:
            seat.send(control.Go(t0_ns=t0_ns))
        async with listened_to(seats, SILENCE_SECONDS):
            await all_made(seats, "finished", within_seconds, "has not finished")
        return LoadSummary(
            t0_ns=t0_ns,
            shards=tuple(seat.finished.result() for seat in seats),
            health=tuple(reading for seat in seats for reading in seat.health),
        )

    @property
    def lost(self) -> bool:
        """Whether a load process has ended already."""
        return any(seat.child.exited for seat in self._seats.values())

    def stop(self) -> None:
        """Ask every load process to begin nothing new; `play` returns when what is under way has ended."""
        for seat in self._seats.values():
            seat.send(control.Stop())

    async def _seat(self, shard: int, address: str) -> None:
        argv = (
            *(sys.executable, "-m", "locust", "-f", str(_LOCUSTFILE), "--headless", "--users", "1"),
            *("--spawn-rate", "1", "--only-summary", "--loglevel", "WARNING"),
        )
        environment = {CONTROL_VARIABLE: address, SHARD_VARIABLE: str(shard)}
        child = await self._spawn(f"load-{shard}", argv, env=environment)
        future = asyncio.get_running_loop().create_future
        seat = Seat(shard, child, child.log, future(), future(), future())
        self._seats[shard] = seat
        watch = asyncio.create_task(self._watch(seat))
        self._leaving.callback(watch.cancel)

    async def _watch(self, seat: Seat) -> None:
        """Notice a load process that ended before its last word."""
        try:
            code = await seat.child.wait(within_seconds=_LIFETIME_SECONDS)
        except Exception as lost:  # noqa: BLE001 - whatever the lab says of it, nobody would hear of its end any more
            seat.lose(seat.failure(f"is lost: {lost}"))
        else:
            await seat.heard_out()
            seat.lose(seat.failure(f"ended early, with exit code {code}"))

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seat: Seat | None = None
        try:
            while raw := await reader.readline():
                message = control.from_load(raw)
                if isinstance(message, Hello):
                    seat = self._claim(message, writer)
                if seat is None:
                    break  # an unknown shard, or one claimed before
                self._note(seat, message)
        except (msgspec.MsgspecError, ValueError) as odd:
            if seat is not None:
                seat.lose(seat.failure(f"says what nobody understands: {odd}"))
        except OSError:
            pass  # its end is noticed by whoever watches it
        finally:
            writer.close()
            if seat is not None:
                seat.silent.set()

    def _claim(self, hello: Hello, writer: asyncio.StreamWriter) -> Seat | None:
        seat = self._seats.get(hello.shard)
        if seat is None or seat.writer is not None:
            return None
        seat.writer = writer
        return seat

    def _note(self, seat: Seat, message: FromLoad) -> None:
        seat.words += 1
        match message:
            case Hello():
                make(seat.hello, None)
            case Ready():
                make(seat.ready, None)
            case Health():
                seat.health.append(message)
            case Progress(tally=tally):
                self._progress(seat, tally)
            case Finished(tally=tally):
                self._progress(seat, tally)
                make(seat.finished, message)
            case Failed(sentence=sentence):
                seat.lose(seat.failure(f"cannot go on: {sentence}"))

    def _progress(self, seat: Seat, tally: Tally) -> None:
        seat.tally = tally
        if self._on_progress is not None:
            self._on_progress(sum((each.tally for each in self._seats.values()), Tally()))

    async def _end(self, server: asyncio.Server) -> None:
        """Close the sockets, at which a load process ends by itself, and wait for each of them."""
        server.close()
        for seat in self._seats.values():
            if seat.writer is not None:
                seat.writer.close()
        await asyncio.gather(*(seat.gone() for seat in self._seats.values()))


async def play(
    plan: LoadPlan,
    spawn: Spawn,
    *,
    within_seconds: float,
    shards: int = 1,
    on_zero: Callable[[int], None] | None = None,
    on_progress: Callable[[Tally], None] | None = None,
) -> LoadSummary:
    """Start the load processes, play the plan and end them; raises LoadError (see Load.play)."""
    async with Load(spawn, shards=shards) as load:
        return await load.play(plan, within_seconds=within_seconds, on_zero=on_zero, on_progress=on_progress)
