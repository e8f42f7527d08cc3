"""The lab's Toxiproxy server, or the stand-in that speaks its HTTP API."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import urllib.request
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from lastseat.account import Account, Bundle, reachable
from lastseat.children import Child, Start
from lastseat.family import listens
from lastseat.ports import LOOPBACK, netloc, on_a_free_port
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lastseat.errors import LabError
    from lastseat.proxy_source import Source
    from lastseat.supervision import Supervision

START_SECONDS = 10.0
_ANSWER_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Toxiproxy:
    """The proxy server of a lab, as its API is reached.

    `kind` is "toxiproxy 2.12.0" or "stand-in"; `notice`, if not empty, is to be shown to the user.
    """

    host: str
    port: int
    kind: str
    notice: str = ""
    child: Child | None = None


async def start_toxiproxy(
    source: Source, *, supervision: Supervision, account: Account | None, log: Path, taken: set[int]
) -> Toxiproxy:
    """Start the server on a free port and wait until it answers; raises LabError with its last lines."""
    if found := source.program:
        bundle = Bundle(f"toxiproxy-copy-{found.stat().st_mtime_ns}", found.parent, (found.name,), found.name)
        source = replace(source, program=await reachable(account, bundle))
    start = partial(_start, source, supervision=supervision, account=account, log=log)
    return await on_a_free_port(start, taken)


async def _start(
    source: Source, port: int, *, supervision: Supervision, account: Account | None, log: Path
) -> Toxiproxy:
    if source.program:
        argv: tuple[str, ...] = (str(source.program), "-host", LOOPBACK, "-port", str(port))
        env: Mapping[str, str] = {"PATH": os.environ.get("PATH", os.defpath), "LOG_LEVEL": "info"}
    else:
        argv = (sys.executable, "-m", "chaos.standin", "--host", LOOPBACK, "--port", str(port))
        env, account = os.environ, None  # this Python may lie where the servers' user cannot go
    child = await supervision.spawn(
        Start(role="toxiproxy", argv=argv, env=env, cwd=supervision.folder, log=log, account=account)
    )

    async def answers() -> str | None:
        if child.exited:
            raise child.error(f"the proxy server ended while starting, with exit code {child.exit_code}")
        if not listens(child.pid, port):  # any other proxy server would answer just as politely
            return None
        return await asyncio.to_thread(version_at, LOOPBACK, port)

    def failing(problem: str) -> LabError:
        return child.error(f"the proxy server did not answer within {START_SECONDS:g} s: {problem}")

    version = await until(answers, within_seconds=START_SECONDS, failing=failing, every_seconds=0.01)
    kind = f"toxiproxy {version}" if source.program else "stand-in"
    return Toxiproxy(LOOPBACK, port, kind, source.notice, child)


def version_at(host: str, port: int) -> str:
    """Return the version that a Toxiproxy API says of itself; blocking; raises OSError when it does not answer."""
    with urllib.request.urlopen(f"http://{netloc(host, port)}/version", timeout=_ANSWER_SECONDS) as answer:
        text: str = answer.read(4096).decode()
    try:
        return str(json.loads(text)["version"])
    except (ValueError, KeyError, TypeError):
        return text.strip()
