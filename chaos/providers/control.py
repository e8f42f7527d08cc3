"""The provider's end of the control socket: it is told how to behave, and asks for callers to be killed."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import msgspec

from chaos.providers.behaviour import CallerKilled, KillCaller, Told, ToProvider, Up
from chaos.providers.simulator import CallerAlive

if TYPE_CHECKING:
    from chaos.providers.behaviour import Behave, FromProvider
    from chaos.providers.http import Listener
    from chaos.providers.simulator import Simulator

KILL_SECONDS = 10.0


class Control:
    """A connection to the lab, over which both sides speak unasked."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count(1)
        self._wishes: dict[int, asyncio.Future[CallerKilled]] = {}
        self._turning: set[asyncio.Task[None]] = set()

    async def kill(self, caller: str) -> str:
        """Have the lab kill a caller; returns how it ended once it was reaped. Raises CallerAlive."""
        number = next(self._numbers)
        answer = self._wishes[number] = asyncio.get_running_loop().create_future()
        self._say(KillCaller(number=number, caller=caller))
        try:
            killed = await asyncio.wait_for(answer, KILL_SECONDS)
        except TimeoutError:
            raise CallerAlive(f"the lab did not answer within {KILL_SECONDS:g} s") from None
        finally:
            del self._wishes[number]
        if killed.problem:
            raise CallerAlive(killed.problem)
        return str(killed.how)

    async def obey(self, simulator: Simulator, listener: Listener) -> None:
        """Tell where it listens, then do what the lab says until it hangs up."""
        self._say(Up(port=listener.port))
        decode = msgspec.json.Decoder(ToProvider).decode
        while line := await self._reader.readline():
            message: ToProvider = decode(line)
            if isinstance(message, CallerKilled):
                if (wish := self._wishes.get(message.number)) is not None and not wish.done():
                    wish.set_result(message)
                continue
            # Beside this loop, since it waits for callers whose end is told here.
            task = asyncio.create_task(self._turn(message, simulator, listener))
            self._turning.add(task)
            task.add_done_callback(self._turning.discard)

    async def _turn(self, message: Behave, simulator: Simulator, listener: Listener) -> None:
        problem, met = "", simulator.met
        if message.behaviour is not None:
            met = await simulator.behave(message.behaviour)
            try:
                await (listener.down() if message.behaviour.does == "down" else listener.up())
            except OSError as error:
                problem = f"cannot listen on port {listener.port} again: {error}"
        self._say(Told(number=message.number, met=met, problem=problem))

    def _say(self, message: FromProvider) -> None:
        self._writer.write(msgspec.json.encode(message) + b"\n")


class Alone:
    """Stands for the lab where there is none."""

    async def kill(self, caller: str) -> str:
        """Kill nobody. Raises CallerAlive."""
        raise CallerAlive(f"nobody is there to kill {caller}: the provider was started without --control")
