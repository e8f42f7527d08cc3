"""What a provider decides of each request: known or new, accepted or not, answered or not."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol

from chaos.providers.behaviour import Behaviour, Met
from chaos.providers.http import Reply
from chaos.providers.ledger import Entry

if TYPE_CHECKING:
    from chaos.providers.http import Request
    from chaos.providers.ledger import Answer, Ledger

PROBE = "probe"
"""The caller that only looks: it is treated as the others are, and leaves no trace in ledger or counts."""

_STATUS = {
    "accepted": HTTPStatus.OK,
    "duplicate": HTTPStatus.OK,
    "declined": HTTPStatus.UNPROCESSABLE_ENTITY,
    "failed": HTTPStatus.SERVICE_UNAVAILABLE,
}

_OF_THE_UNDECIDED = {"retry", "decline", "refuse", "kill_caller"}
"""What is done to an id of which nothing is decided yet; what was is said again, and has met nothing."""


class CallerAlive(Exception):  # noqa: N818 - the lab's answer to a wish
    """A caller could not be killed; the text says why."""


class Lab(Protocol):
    """Who can kill a caller."""

    async def kill(self, caller: str) -> str:
        """Kill this process of the lab, and say how it ended once it was reaped. Raises CallerAlive."""


@dataclass(slots=True, kw_only=True)
class Simulator:
    """One provider: paths are /CALLER/…, the dedupe id is the Idempotency-Key; GET /CALLER/effects/ID tells what was decided."""

    name: str
    ledger: Ledger
    lab: Lab
    behaviour: Behaviour = field(default_factory=Behaviour)
    _requests: int = 0
    _callers: list[str] = field(default_factory=list)
    _killed: list[str] = field(default_factory=list)
    _killing: set[asyncio.Future[None]] = field(default_factory=set)
    _refused: set[str] = field(default_factory=set)

    async def behave(self, behaviour: Behaviour) -> Met:
        """Treat what comes from now on like this; returns what met the former behaviour, its last victim included."""
        self.behaviour = behaviour
        if self._killing:
            await asyncio.wait(self._killing)
        met = self.met
        self._requests = 0
        self._callers, self._killed = [], []
        return met

    @property
    def met(self) -> Met:
        """What has met the present behaviour so far."""
        return Met(requests=self._requests, callers=tuple(self._callers), killed=tuple(self._killed))

    async def treat(self, request: Request) -> Reply | None:
        """Decide, write the ledger, and answer; None is no answer."""
        caller, _, path = request.path.lstrip("/").partition("/")
        if request.method == "GET":
            return self._look_up(path.rpartition("/")[2])
        key = request.headers.get("idempotency-key", "")
        if request.method != "POST" or not key:
            return _say(HTTPStatus.BAD_REQUEST, "malformed", key)
        if caller == PROBE:
            return await self._show(key)
        does = self._meets(key, path)
        answer = self._decide(key, does)
        payload = request.body.decode(errors="replace")
        self.ledger.write(
            Entry(
                provider=self.name,
                effect=key,
                received_ns=time.monotonic_ns(),
                answer=answer,
                payload=payload,
                caller=caller,
                path=path,
            )
        )
        if does == "kill_caller" and answer == "accepted":
            killing = asyncio.ensure_future(self._kill(caller, key))
            self._killing.add(killing)
            killing.add_done_callback(self._killing.discard)
            await killing
            return None
        return await self._reply(key, answer, does)

    def _meets(self, key: str, path: str) -> str:
        """Say what is done to this request, and count it if it is concerned."""
        told = self.behaviour
        if key in self._refused:
            return "refuse"
        concerned = path.startswith(told.path) and key.startswith(told.only)
        known = told.does in _OF_THE_UNDECIDED and self.ledger.final(key) is not None
        if not concerned or known or (told.times and self._requests >= told.times):
            return "accept"
        if told.does != "accept":
            self._requests += 1
        return told.does

    def _decide(self, key: str, does: str) -> Answer:
        before = self.ledger.final(key)
        if before is not None:
            return "duplicate" if before.answer == "accepted" else "declined"
        if does == "refuse":
            self._refused.add(key)
        if does in {"retry", "refuse"}:
            return "failed"
        return "declined" if does == "decline" else "accepted"

    async def _reply(self, key: str, answer: Answer, does: str) -> Reply | None:
        if does == "drop_reply":
            return None
        if does == "late":
            await asyncio.sleep(self.behaviour.by_ms / 1_000)
        return _say(_STATUS[answer], answer, key)

    async def _kill(self, caller: str, key: str) -> None:
        self._callers.append(caller)
        try:
            how = await self.lab.kill(caller)
        except CallerAlive as error:
            self._killed.append(f"{caller} was not killed: {error}")
        else:
            self._killed.append(f"{how} after {key} was accepted")

    async def _show(self, key: str) -> Reply | None:
        """Treat a probe, without effect."""
        does = self.behaviour.does
        if does == "kill_caller":
            return None
        answers: dict[str, Answer] = {"retry": "failed", "refuse": "failed", "decline": "declined"}
        return await self._reply(key, answers.get(does, "accepted"), does)

    def _look_up(self, key: str) -> Reply:
        entry = self.ledger.final(key)
        return (
            _say(HTTPStatus.NOT_FOUND, "unknown", key)
            if entry is None
            else _say(HTTPStatus.OK, entry.answer, key)
        )


def _say(status: int, result: str, key: str) -> Reply:
    return Reply(status=status, body={"result": result, "id": key})
