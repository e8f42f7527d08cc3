"""Servers that are there already, given by URL: looked at closely before they are used, and never broken."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import asyncpg
import redis.asyncio as redis
from redis.exceptions import RedisError

from lastseat.errors import LabError, UsageError
from lastseat.postgres import Postgres
from lastseat.postgres_server import Address
from lastseat.toxiproxy import Toxiproxy, version_at
from lastseat.valkey import Valkey

if TYPE_CHECKING:
    from urllib.parse import SplitResult

ANSWER_SECONDS = 10.0
POSTGRES_MIN = 140_000
"""The oldest server whose logical decoding the trail was tried with, as server_version_num."""
_OF_TODAY = re.compile(r"git$|v?([2-9]|\d\d+)\.\d")
"""Toxiproxy 2 and newer; one that Go has built calls itself `git`."""

_NEEDED = (
    ("track_commit_timestamp", "on", "set track_commit_timestamp = on in its configuration and restart it"),
    ("fsync", "on", "set fsync = on: without it a crash proves nothing"),
)
_NO_TRAIL = "without a trail of its changes, most invariants stay unknown"
_FACTS = """
    SELECT current_setting('server_version_num')::int AS version, rolsuper, rolcreatedb, rolreplication,
           current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_replication_slots)::int AS slots
    FROM pg_roles WHERE rolname = current_user
"""


async def refuse(database_url: str | None, redis_url: str | None, toxiproxy_url: str | None) -> None:
    """Look at the servers that are given, before anything is started: raises UsageError, or LabError for one that is silent."""
    if database_url:
        await postgres(database_url)
    if redis_url:
        await valkey(redis_url)
    if toxiproxy_url:
        await toxiproxy(toxiproxy_url)


async def postgres(url: str) -> Postgres:
    """Return a PostgreSQL server that fits; raises UsageError saying what does not, LabError when it is silent."""
    parts = _split(url, "--database-url", ("postgresql", "postgres"))
    address = Address(
        host=parts.hostname or "",
        port=parts.port or 5432,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        query=parts.query,
    )
    found = Postgres(address, admin_database=unquote(parts.path.lstrip("/")) or "postgres")
    where = f"{address.host}:{address.port}"
    try:
        session = await asyncpg.connect(
            found.admin_dsn, timeout=ANSWER_SECONDS, command_timeout=ANSWER_SECONDS
        )
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as problem:
        raise LabError(
            f"the given PostgreSQL does not let the lab in: {_said(problem)}",
            where=where,
            remedy="see --database-url",
        ) from None
    try:
        found.no_trail = await _fits(session, where)
    finally:
        await session.close(timeout=ANSWER_SECONDS)
    return found


async def _fits(session: asyncpg.Connection, where: str) -> str:
    """Refuse a server that cannot be used at all; return why it gives no trail, empty where it gives one."""
    for setting, needed, remedy in _NEEDED:
        if (actual := await session.fetchval("SELECT current_setting($1)", setting)) != needed:
            raise UsageError(
                f"PostgreSQL at {where} has {setting} = {actual}; {needed} is needed", remedy=remedy
            )
    facts = await session.fetchrow(_FACTS)
    if facts["version"] < POSTGRES_MIN:
        raise UsageError(
            f"PostgreSQL at {where} is too old ({facts['version']})", remedy="use version 14 or newer"
        )
    if not (facts["rolsuper"] or facts["rolcreatedb"]):
        raise UsageError(
            f"the user given for PostgreSQL at {where} may not create databases",
            remedy="ALTER ROLE … CREATEDB REPLICATION, or use a superuser",
        )
    if (level := await session.fetchval("SELECT current_setting('wal_level')")) != "logical":
        return f"PostgreSQL at {where} has wal_level = {level}: {_NO_TRAIL}; set wal_level = logical and restart it"
    if not (facts["rolsuper"] or facts["rolreplication"]):
        return f"the user given for PostgreSQL at {where} may not use replication: {_NO_TRAIL}; ALTER ROLE … REPLICATION"
    if facts["slots"] < 1:
        raise UsageError(
            f"PostgreSQL at {where} has no replication slot left",
            remedy="raise max_replication_slots, or drop slots that nobody uses (pg_replication_slots)",
        )
    return ""


async def valkey(url: str) -> Valkey:
    """Return a Redis-protocol server whose chosen database is empty, since runs flush it."""
    parts = _split(url, "--redis-url", ("redis",))
    number = parts.path.lstrip("/") or "0"
    if not number.isdecimal():
        raise UsageError(f"--redis-url names no database number: {number!r}")
    found = Valkey(
        host=parts.hostname or "",
        port=parts.port or 6379,
        password=unquote(parts.password or ""),
        database=int(number),
        user=unquote(parts.username or ""),
    )
    where = f"{found.host}:{found.port}"
    try:
        async with redis.from_url(
            found.url(), socket_connect_timeout=ANSWER_SECONDS, socket_timeout=ANSWER_SECONDS
        ) as client:
            keys = await client.dbsize()
    except (OSError, RedisError) as problem:
        raise LabError(
            f"the given Redis does not let the lab in: {_said(problem)}",
            where=where,
            remedy="see --redis-url",
        ) from None
    if keys:
        raise UsageError(
            f"database {number} of the Redis at {where} holds {keys} keys, which a run would flush",
            remedy="give another database number (redis://HOST:PORT/9), or empty this one yourself",
        )
    return found


async def toxiproxy(url: str) -> Toxiproxy:
    """Return a Toxiproxy server that answers."""
    parts = _split(url, "--toxiproxy-url", ("http",))
    host, port = parts.hostname or "", parts.port or 8474
    try:
        version = await asyncio.to_thread(version_at, host, port)
    except (OSError, HTTPException, ValueError) as problem:
        raise LabError(
            f"the given Toxiproxy does not answer: {_said(problem)}",
            where=f"{host}:{port}",
            remedy="see --toxiproxy-url",
        ) from None
    if not _OF_TODAY.match(version):
        raise UsageError(
            f"what answers at {host}:{port} is no Toxiproxy 2: as its version it says {version[:40]!r}",
            remedy="see --toxiproxy-url",
        )
    return Toxiproxy(host, port, f"toxiproxy {version}")


def _said(problem: Exception) -> str:
    return str(problem) or f"no answer within {ANSWER_SECONDS:g} s"


def _split(url: str, option: str, schemes: tuple[str, ...]) -> SplitResult:
    """Take a URL apart, and refuse one that leads off this machine: a run floods what it is given."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in schemes and parts.hostname and (parts.port is None or parts.port)
    except ValueError:
        usable = False
    if not usable:  # the value may hold a password, and so may what was made of it
        raise UsageError(f"{option} has to look like {schemes[0]}://127.0.0.1:PORT/…") from None
    if not is_loopback(parts.hostname or ""):
        raise UsageError(
            f"{option} leads to {parts.hostname}, which is not this machine",
            remedy="use a server on 127.0.0.1 (or forward a port); a run floods and flushes what it is given",
        )
    return parts


def is_loopback(host: str) -> bool:
    """Tell whether every address of a host name is a loopback address."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_loopback for entry in found)
