"""A session with PostgreSQL: what it is opened with, for how long it lets a statement run, and what ends it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import asyncpg

from service import deadline, errors
from service.errors import Refused

if TYPE_CHECKING:
    from service.settings import Settings

BROKEN: Final = (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_UNFIT: Final = ("53", "58", "25006")  # out of resources, a failing system, a server that only reads
_STATEMENT_MS_MIN: Final = 10  # with less left a statement is not worth sending
_SLACK: Final = 0.75  # of what is left: the next to use the session has waited for longer, maybe


def connection_options(
    settings: Settings, application: str, *, statement_ms: int | None = None
) -> dict[str, Any]:
    """Return what every connection is opened with: the server waits for a client without limit by default."""
    session = {
        "application_name": application,
        "timezone": "UTC",
        "jit": "off",
        "lock_timeout": str(settings.lock_timeout_ms),
        "statement_timeout": str(statement_ms or settings.statement_timeout_ms),
        "transaction_timeout": str(settings.transaction_timeout_ms),
        "idle_in_transaction_session_timeout": str(settings.idle_in_transaction_timeout_ms),
    }
    if sys.platform == "linux":  # elsewhere the server refuses any value but zero
        session["tcp_user_timeout"] = str(settings.tcp_user_timeout_ms)
    return {
        "dsn": settings.database_url,
        "timeout": settings.connect_ms / 1_000,
        "command_timeout": settings.command_timeout_ms / 1_000,
        "statement_cache_size": settings.statement_cache,
        "max_cached_statement_lifetime": 0,
        "server_settings": session,
    }


class Session(asyncpg.Connection):  # type: ignore[misc]  # asyncpg publishes no types
    """A connection that remembers for how long the server lets each of its statements run."""

    statement_ms: int | None = None  # as it was opened

    async def let_statements_run(self, ms: int) -> None:
        """Change the statement timeout, for as long as the connection lasts."""
        await self.execute(f"SET statement_timeout = {ms}")
        self.statement_ms = ms


class Patience:
    """How long the server may try to carry a statement out: the setting, or what is left of the command's deadline.

    It covers waits for locks, one after the other, which the lock timeout bounds each by itself. A session keeps its bound
    while that is no more than what is left and no less than half of it, so that a round trip goes into it only rarely.
    """

    def __init__(self, settings: Settings, *, opened_ms: int) -> None:
        self._most_ms = settings.statement_timeout_ms
        self._opened_ms = opened_ms

    async def of_session(self, connection: Any) -> None:
        """Bound the statement that comes next; raises Refused (DEADLINE_PASSED) where there is no time left for one."""
        if (ms := self._other_ms(connection)) is not None:
            async with deadline.cut():
                await connection.let_statements_run(max(_STATEMENT_MS_MIN, int(ms * _SLACK)))

    def of_transaction(self, connection: Any) -> str:
        """Return the BEGIN of a transaction whose statements are bounded, in one message; raises Refused as above."""
        ms = self._other_ms(connection)
        return "BEGIN" if ms is None else f"BEGIN; SET LOCAL statement_timeout = {ms}"

    def _other_ms(self, connection: Any) -> int | None:
        """Return what the bound has to be, or None where the session's will do."""
        most = (
            int(min(self._most_ms, deadline.work_seconds_left() * 1_000))
            if deadline.current()
            else self._most_ms
        )
        if most < _STATEMENT_MS_MIN:
            raise Refused(errors.DEADLINE_PASSED)
        now = connection.statement_ms or self._opened_ms
        return None if most / 2 <= now <= most else most


def opened_ms(settings: Settings, *, for_commands: bool) -> int:
    """Return the bound that a session is opened with: for commands one that most of them need not change."""
    if not for_commands:
        return settings.statement_timeout_ms
    return min(
        settings.statement_timeout_ms, max(_STATEMENT_MS_MIN, int(settings.command_deadline_ms * _SLACK))
    )


def ends_the_session(error: BaseException) -> bool:
    """Whether the server or the network ended the session (classes 08 and 57P, transaction timeout), or it broke here."""
    state = getattr(error, "sqlstate", None) or ""
    return isinstance(error, BROKEN) or state.startswith(("08", "57P")) or state in {"25P03", "25P04"}


def is_unfit(error: BaseException) -> bool:
    """Whether the server says of itself that it cannot do any work."""
    return (getattr(error, "sqlstate", None) or "").startswith(_UNFIT)
