"""The stage on which the refusals of the service's table are provoked over HTTP, and the register of the scenes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AsyncExitStack

    import pytest

    Provoke = Callable[["Scene"], Awaitable["Shot"]]

WAITING: Final = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """The request that is to be refused, and what is done once it waits for a lock."""

    by: Any
    path: str
    method: str = "POST"
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Idempotency-Key": "the-shot"})
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def fire(self) -> Any:
        """Send it and return the answer."""
        sending = asyncio.ensure_future(self.by.send(self.method, self.path, self.body, self.headers))
        if self.meanwhile is not None:
            await self.meanwhile()
        return await sending


@dataclass(slots=True)
class Scene:
    """Where a refusal is provoked: a node with a room of one seat, its people, and whatever is undone afterwards."""

    service: Any
    start: Callable[..., Awaitable[Any]]
    until: Callable[..., Awaitable[None]]
    sessions: Any
    stack: AsyncExitStack
    monkeypatch: pytest.MonkeyPatch
    silent_port: int  # of a server that takes connections and says nothing
    room: int = 0
    pending: list[asyncio.Future[Any]] = field(default_factory=list)  # over once nothing is locked any more

    @property
    def alice(self) -> Any:
        return self.service.person("alice")

    @property
    def bob(self) -> Any:
        return self.service.person("bob")

    async def hold(self) -> int:
        """Let alice hold the room's seat."""
        return await self._made(self.alice, f"/api/resources/{self.room}/holds")

    async def entry(self) -> int:
        """Let bob wait for the room's seat, which alice holds."""
        return await self._made(self.bob, f"/api/resources/{self.room}/waitlist")

    async def offer(self) -> int:
        """Let bob be offered the room's seat."""
        hold, entry = await self.hold(), await self.entry()
        await self._made(self.alice, f"/api/holds/{hold}/cancel")
        return int((await self.bob.get(f"/api/waitlist/{entry}")).json["offerId"])

    async def reservation(self) -> int:
        """Let alice have the room's seat for good."""
        return await self._made(self.alice, f"/api/holds/{await self.hold()}/confirm")

    async def command(self, path: str, body: Any = None) -> None:
        """Let the administrator do something to the room."""
        await self._made(self.service.admin, f"/api/resources/{self.room}/{path}", body)

    async def lock_the_room(self) -> None:
        """Keep the room locked until the scene is over."""
        session = await self.sessions.open()
        await self.stack.enter_async_context(session.transaction())
        await session.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", self.room)

    async def somebody_waits(self) -> None:
        """Return once a session of the node waits for a lock."""
        await self.until(lambda: self.service.sql.fetchval(WAITING), "a wait for the room")

    async def behind_another(self, **limits: int) -> Shot:
        """A shot at a node of its own where another's hold waits for the locked room."""
        crowded = await self.start(**limits)
        await self.lock_the_room()
        first = crowded.person("carol").post(f"/api/resources/{self.room}/holds", {})
        self.pending.append(asyncio.ensure_future(first))
        await self.somebody_waits()
        return Shot(by=crowded.person("alice"), path=f"/api/resources/{self.room}/holds")

    async def _made(self, who: Any, path: str, body: Any = None) -> int:
        answer = await who.post(path, body)
        assert answer.status < 300, answer.body
        return int(answer.json["id"])


SCENES: Final[dict[str, Provoke]] = {}


def scene(code: str) -> Callable[[Provoke], Provoke]:
    """Register how `code` is provoked."""

    def register(provoke: Provoke) -> Provoke:
        assert code not in SCENES, f"two scenes for {code}"
        SCENES[code] = provoke
        return provoke

    return register


def hold_of(s: Scene, body: bytes = b"{}", **headers: str) -> Shot:
    """A hold of the room by alice."""
    told = {"Idempotency-Key": "the-shot", **{name.replace("_", "-"): text for name, text in headers.items()}}
    return Shot(by=s.alice, path=f"/api/resources/{s.room}/holds", body=body, headers=told)
