"""Provider simulators in the lab: started, told how to behave, and given the callers that they want killed."""

from __future__ import annotations

import asyncio
import itertools
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from chaos.parts import PartError
from chaos.providers.behaviour import Behave, CallerKilled, FromProvider, KillCaller, Told, Up
from lastseat.errors import LabError
from lastseat.ports import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from chaos.providers.behaviour import Behaviour, Met, ToProvider
    from lastseat.children import Child
    from lastseat.lab import Lab

UP_SECONDS = 10.0
ANSWER_SECONDS = 10.0
END_SECONDS = 5.0


@dataclass(slots=True, kw_only=True)
class ProviderDesk:
    """The lab's end of one provider's control socket; `kill` ends a caller by its role and says how. It raises PartError."""

    name: str
    ledger: Path
    kill: Callable[[str], Awaitable[str]]
    port: int = 0
    _writer: asyncio.StreamWriter | None = None
    _up: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _answers: dict[int, asyncio.Future[Told]] = field(default_factory=dict)
    _killing: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, past any proxy."""
        return LOOPBACK, self.port

    async def behave(self, behaviour: Behaviour) -> Met:
        """Tell it how to treat what comes; returns what met its former behaviour. Raises PartError."""
        return await self._tell(behaviour)

    async def met(self) -> Met:
        """Ask what has met its present behaviour. Raises PartError."""
        return await self._tell(None)

    async def wait_up(self, child: Child) -> None:
        """Wait until it listens. Raises LabError."""
        try:
            await asyncio.wait_for(self._up.wait(), UP_SECONDS)
        except TimeoutError:
            raise child.error(f"{child.role} was not up within {UP_SECONDS:g} s") from None

    async def listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hear what the provider says, until it hangs up."""
        self._writer = writer
        decode = msgspec.json.Decoder(FromProvider).decode
        try:
            while line := await reader.readline():
                message: FromProvider = decode(line)
                if isinstance(message, Up):
                    self.port = message.port
                    self._up.set()
                elif isinstance(message, Told):
                    self._settle(message)
                else:
                    task = asyncio.create_task(self._kill(message))
                    self._killing.add(task)
                    task.add_done_callback(self._killing.discard)
        finally:
            self._writer = None
            writer.close()

    def _settle(self, told: Told) -> None:
        answer = self._answers.pop(told.number, None)
        if answer is not None and not answer.done():
            answer.set_result(told)

    async def _tell(self, behaviour: Behaviour | None) -> Met:
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._say(Behave(number=number, behaviour=behaviour))
        try:
            told = await asyncio.wait_for(answer, ANSWER_SECONDS)
        except TimeoutError:
            raise PartError(f"provider {self.name} did not answer within {ANSWER_SECONDS:g} s") from None
        finally:
            self._answers.pop(number, None)
        if told.problem:
            raise PartError(f"provider {self.name} {told.problem}")
        met: Met = told.met
        return met

    async def _kill(self, wish: KillCaller) -> None:
        try:
            answer = CallerKilled(number=wish.number, how=f"{wish.caller} {await self.kill(wish.caller)}")
        except PartError as problem:
            answer = CallerKilled(number=wish.number, problem=str(problem))
        self._say(answer)

    def _say(self, message: ToProvider) -> None:
        if self._writer is None:
            raise PartError(f"provider {self.name} has hung up")
        self._writer.write(msgspec.json.encode(message) + b"\n")


@asynccontextmanager
async def providing(
    lab: Lab, name: str, folder: Path, kill: Callable[[str], Awaitable[str]]
) -> AsyncIterator[ProviderDesk]:
    """Run a provider while the block runs, its ledger at `folder`/ledgers/NAME.jsonl. Raises LabError."""
    desk = ProviderDesk(name=name, ledger=folder.resolve() / "ledgers" / f"{name}.jsonl", kill=kill)
    socket = lab.supervision.folder / f"{name}.sock"
    server = await asyncio.start_unix_server(desk.listen, socket)
    argv = (
        sys.executable,
        "-m",
        "chaos.providers",
        name,
        "--ledger",
        str(desk.ledger),
        "--control",
        str(socket),
    )
    try:
        child = await lab.spawn(f"provider-{name}", argv)
        try:
            await desk.wait_up(child)
            yield desk
        finally:
            try:
                await child.terminate(END_SECONDS)
            except LabError:
                await child.kill()
    finally:
        server.close()
        socket.unlink(missing_ok=True)
