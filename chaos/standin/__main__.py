"""`python -m chaos.standin --host H --port P`: serve Toxiproxy's API until SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING

import uvicorn

from chaos.standin.api import Api

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Parse the arguments that Toxiproxy's own server takes for its address, and serve."""
    parser = argparse.ArgumentParser(prog="chaos.standin", description="A stand-in for Toxiproxy's server.")
    parser.add_argument("--host", "-host", default="localhost")
    parser.add_argument("--port", "-port", type=int, default=8474)
    arguments = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)  # uvicorn shuts down, then raises the signal again
    uvicorn.run(
        Api().application(),
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )


def _leave(_number: int, _frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
