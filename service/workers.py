"""A worker process: `python -m service.workers expiry|notifier`, settings from the environment.

Each worker has a `run_once()` that does one bounded round; `run` repeats it with jitter until SIGTERM.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import secrets
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol

from prometheus_client import start_http_server

from service import logs
from service.database import Database
from service.errors import Refused
from service.metrics import WorkerMetrics
from service.reservation.notifier import Notifier
from service.reservation.sweeper import Sweeper
from service.settings import Settings, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOG: Final = logging.getLogger("service.workers")
_JITTER: Final = 0.2


class Worker(Protocol):
    """Something that does its work in rounds."""

    async def run_once(self) -> object:
        """Do one bounded round and say what it did."""

    async def stop(self) -> None:
        """Give back what others would have to wait for."""


def _expiry(database: Database, settings: Settings) -> Worker:
    # A name that no earlier process had: a restarted one must not believe that it still leads.
    instance = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    return Sweeper(database, settings, instance)


WORKERS: Final[dict[str, tuple[Callable[[Database, Settings], Worker], str]]] = {
    "expiry": (_expiry, "sweep_tick_seconds"),
    "notifier": (Notifier, "notification_tick_seconds"),
}


async def run(
    worker: Worker,
    *,
    tick_seconds: float,
    stopping: asyncio.Event,
    count: Callable[[Any], None] = lambda _: None,
) -> None:
    """Repeat the worker's rounds, with jitter, until `stopping`; a failed round is told and tried again."""
    while not stopping.is_set():
        try:
            count(await worker.run_once())
        except Refused as refused:
            LOG.warning("round refused", extra={"facts": {"code": refused.refusal.code}})
        except Exception:
            LOG.exception("round failed")
        pause = tick_seconds * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - jitter
        try:
            await asyncio.wait_for(stopping.wait(), pause)
        except TimeoutError:
            continue
    await worker.stop()


async def _work(name: str, settings: Settings, metrics_port: int | None) -> None:
    make, tick = WORKERS[name]
    metrics = WorkerMetrics()
    if metrics_port is not None:
        start_http_server(metrics_port, addr="127.0.0.1", registry=metrics.registry)
    database = await Database.open(
        settings, application=f"reservation-{name}", connections_max=settings.worker_permits
    )
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    LOG.info("worker started", extra={"facts": {"worker": name}})
    try:
        await run(
            make(database, settings),
            tick_seconds=getattr(settings, tick),
            stopping=stopping,
            count=metrics.swept if name == "expiry" else metrics.sent,
        )
    finally:
        await database.close()
    LOG.info("worker ended", extra={"facts": {"worker": name}})


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and work until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m service.workers", description=__doc__)
    parser.add_argument("worker", choices=sorted(WORKERS))
    parser.add_argument("--metrics-port", type=int, help="serve Prometheus metrics on this loopback port")
    given = parser.parse_args(arguments)
    try:
        settings = Settings.from_env()
    except SettingsError as error:
        sys.stderr.write(f"service.workers: {error}\n")
        return 2
    logs.configure()
    _run(_work(given.worker, settings, given.metrics_port))
    return 0


_run: Any
if sys.platform == "win32":
    _run = asyncio.run
else:
    import uvloop

    _run = uvloop.run

if __name__ == "__main__":
    raise SystemExit(main())
