"""One API node: `python -m service.node --host 127.0.0.1 --port 8080`, settings from the environment."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import uvicorn

from service import logs
from service.app import build
from service.listener import Listener
from service.settings import Settings, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Node(uvicorn.Server):
    """A server that a SIGTERM ends cleanly, with exit code 0; uvicorn's own would raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Turn SIGTERM and SIGINT into an orderly end for as long as the server runs."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def configured(settings: Settings, *, host: str, port: int) -> uvicorn.Config:
    """Build the application and say how it is served."""
    return uvicorn.Config(
        await build(settings),
        host=host,
        port=port,
        loop="none",
        http=cast("type[asyncio.Protocol]", partial(Listener, settings)),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=settings.backlog,
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


async def serve(settings: Settings, *, host: str, port: int) -> None:
    """Serve until a signal asks for the end."""
    config = await configured(settings, host=host, port=port)
    gc.collect()
    gc.freeze()  # what stands by now stays: collections need not walk it again and again
    await Node(config).serve()


def _settings(host: str) -> Settings:
    settings = Settings.from_env()
    if settings.trust_owner_header and host not in _LOOPBACK:
        raise SettingsError("RESERVATION_TRUST_OWNER_HEADER is for loopback binds only")
    return settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m service.node", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    given = parser.parse_args(arguments)
    try:
        settings = _settings(given.host)
    except SettingsError as error:
        sys.stderr.write(f"service.node: {error}\n")
        return 2
    logs.configure()
    _run(serve(settings, host=given.host, port=given.port))
    return 0


if sys.platform == "win32":
    _run = asyncio.run
else:
    import uvloop

    _run = uvloop.run

if __name__ == "__main__":
    raise SystemExit(main())
