"""`python -m chaos.providers NAME --ledger PATH [--port N] [--control SOCKET]`: one provider, until SIGTERM or the lab hangs up."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos.providers.control import Alone, Control
from chaos.providers.http import Listener
from chaos.providers.ledger import Ledger
from chaos.providers.simulator import Simulator

if TYPE_CHECKING:
    from collections.abc import Sequence

LOOPBACK = "127.0.0.1"


async def serve(name: str, ledger: Path, port: int, control: Path | None) -> None:
    """Provide until told to end."""
    lab = Alone() if control is None else Control(*await asyncio.open_unix_connection(control))
    with Ledger(ledger) as kept:
        simulator = Simulator(name=name, ledger=kept, lab=lab)
        listener = Listener(LOOPBACK, port, simulator.treat)
        await listener.up()
        sys.stdout.write(f"{name} listens on http://{LOOPBACK}:{listener.port}/CALLER/…\n")
        sys.stdout.flush()
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        waiting: set[asyncio.Task[Any]] = {asyncio.create_task(ended.wait())}
        if isinstance(lab, Control):
            waiting.add(asyncio.create_task(lab.obey(simulator, listener)))
        done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        await listener.down()
        for task in done:
            task.result()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and provide."""
    parser = argparse.ArgumentParser(prog="python -m chaos.providers", description=__doc__)
    parser.add_argument("name", help="what it is in the ledger: notification, payment")
    parser.add_argument(
        "--ledger", type=Path, required=True, help="where its effects are kept, a JSON line each"
    )
    parser.add_argument("--port", type=int, default=0, help="where it listens; 0 is any free port")
    parser.add_argument("--control", type=Path, help="the lab's Unix socket")
    given = parser.parse_args(arguments)
    asyncio.run(serve(given.name, given.ledger, given.port, given.control))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
