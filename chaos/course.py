"""One fault from its plan to its healing, and the record of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from typing import TYPE_CHECKING

import msgspec

from chaos.fault import NotSeen, Unwell
from chaos.network import NetworkError
from chaos.parts import PartError
from chaos.waiting import sleep_until, sought

if TYPE_CHECKING:
    from chaos.fault import Reach
    from chaos.schedule import Condition, Planned

PROOF_SECONDS = 3.0  # some connections can miss a new toxic, so a proof is sought again until then
RECOVERY_SECONDS = 5.0  # after healing, what was broken must answer by then
BROKEN = (NetworkError, PartError, OSError)
"""What may go wrong with breaking and healing: it goes into the record."""
_HEAL_TRIES = 3
_CONDITION_SECONDS = 0.01
_LAST_LOOK_SECONDS = 0.5
_END_SECONDS = 5.0  # a client may take a cancellation for its own timeout, and go on


class FaultRecord(msgspec.Struct, kw_only=True):
    """What became of one fault; instants are CLOCK_MONOTONIC ns and None where it did not come to that.

    `landed_ns` is when `proof` was seen; `error` says why a fault did not land, did not heal, or was not well after.
    """

    fault: str
    kind: str
    where: str
    planned_ns: int | None = None
    injected_ns: int | None = None
    landed_ns: int | None = None
    healed_ns: int | None = None
    proof: str | None = None
    error: str | None = None


class Course:
    """One fault from its plan to its healing."""

    def __init__(self, planned: Planned, reach: Reach, tag: str) -> None:
        fault = planned.fault
        self.planned = planned
        self.record = FaultRecord(fault=planned.name, kind=fault.kind, where=fault.where)
        self._reach = reach
        self._tag = tag
        self._usual_seconds = 0.0
        self._begun = False
        self._in_place_ns = 0
        self._watching: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    def unavailable(self) -> str:
        """Say why this lab does not offer the fault; empty when it does."""
        after, known = self.planned.after, self._reach.conditions
        if after is not None and after.probe not in known:
            return f"{self.planned.name} waits for {after.probe!r}; there are: {', '.join(known) or 'none'}"
        return self.planned.fault.unavailable(self._reach)

    async def check(self) -> None:
        """Find well what is to be broken. Raises Unwell."""
        self._usual_seconds = await self.planned.fault.check(self._reach)

    async def play(self, t0_ns: int, load_ended: asyncio.Event) -> None:
        """Begin and end by the clock, or begin when a condition is met."""
        await sleep_until(t0_ns + int(self.planned.seconds * 1e9))
        self.record.planned_ns = t0_ns + int(self.planned.seconds * 1e9)
        if self.planned.after is not None:
            if not await self._met(self.planned.after, load_ended):
                return
            self.record.planned_ns = time.monotonic_ns()
        try:
            await self.begin(holds_seconds=self.planned.heal_after)
            if self.record.injected_ns is not None:
                await sleep_until(self._in_place_ns + int(self.planned.heal_after * 1e9))
        finally:
            await self.end()

    async def _met(self, after: Condition, load_ended: asyncio.Event) -> bool:
        """Wait for a condition; the record says if the load ended before."""
        share = 0.0
        while not load_ended.is_set():
            share = await self._reach.conditions[after.probe]()
            if share >= after.at_least:
                return True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(load_ended.wait(), _CONDITION_SECONDS)
        self._note(f"not injected: {after.probe} had reached {share:.0%} when the load ended")
        return False

    async def begin(self, *, holds_seconds: float = math.inf) -> None:
        """Inject the fault and look for its proof: while it holds, but no longer than a probe can take.

        The record has it injected from the first moment on that something may be broken.
        """
        if self.record.planned_ns is None:
            self.record.planned_ns = time.monotonic_ns()
        self._begun = True
        begun_ns = time.monotonic_ns()
        try:
            await self.planned.fault.inject(self._reach, self._tag)
        except BROKEN as error:
            self._note(f"not injected: {error}")
            return
        self.record.injected_ns = begun_ns
        self._in_place_ns = time.monotonic_ns()
        fault = self.planned.fault
        if fault.awaits_victim and self.planned.throughout:
            self._watching = asyncio.create_task(self._prove(math.inf))
            return
        if fault.span == "moment":
            holds_seconds = PROOF_SECONDS
        await self._prove(holds_seconds if fault.awaits_victim else min(holds_seconds, PROOF_SECONDS))

    async def _prove(self, within_seconds: float) -> None:
        try:
            self.record.proof = await sought(self._look, within_seconds=within_seconds)
            self.record.landed_ns = time.monotonic_ns()
        except (NotSeen, *BROKEN) as last:
            self._note(f"not proven: {last}")

    async def _last_look(self) -> None:
        """End a proof that is still awaited, and add what has met the fault."""
        fault = self.planned.fault
        if self._watching is not None and not self._watching.done():
            self._watching.cancel()
            await asyncio.wait({self._watching}, timeout=_END_SECONDS)
            await self._prove(_LAST_LOOK_SECONDS)
        with contextlib.suppress(*BROKEN):
            if self.record.proof and (victims := await fault.victims(self._reach)):
                self.record.proof = f"{self.record.proof}; {victims}"

    async def end(self) -> None:
        """Heal the fault once, however often this is called, and whoever is cancelled meanwhile."""
        if self._begun:
            if self._ending is None:
                self._ending = asyncio.create_task(self._end())
            await asyncio.shield(self._ending)

    async def _end(self) -> None:
        await self._last_look()
        for left in reversed(range(_HEAL_TRIES)):
            try:
                await self.planned.fault.heal(self._reach, self._tag)
                self.record.healed_ns = time.monotonic_ns()
                break
            except BROKEN as error:
                if not left:
                    self._note(f"not healed: {error}")

    async def recover(self) -> None:
        """Find well again what was broken; asked once everything is healed, as faults may share a link."""
        if self._begun:
            try:
                await sought(self._well, within_seconds=RECOVERY_SECONDS)
            except (NotSeen, Unwell, *BROKEN) as error:
                self._note(f"not well after healing: {error}")

    async def _look(self) -> str:
        return await self.planned.fault.prove(self._reach, self._usual_seconds)

    async def _well(self) -> str:
        await self.planned.fault.check(self._reach)
        return "well"

    def _note(self, text: str) -> None:
        self.record.error = text if self.record.error is None else f"{self.record.error}; {text}"
