"""Have Toxiproxy at hand before a run needs it: `python -m lastseat.fetch`, which setup calls.

Finds it, or fetches it once into the cache, and says in one line what a run will use. Never fails: where it cannot
be had, runs use the stand-in.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

from lastseat.account import temporary_folder
from lastseat.errors import LabError
from lastseat.leftovers import PREFIX
from lastseat.proxy_source import VERSION, Source, find, obtain
from lastseat.supervision import Supervision


async def fetch() -> Source:
    """Return what a run will use, fetched if need be, under a supervisor as in a run."""
    if found := find():
        return found
    with tempfile.TemporaryDirectory() as logs:
        marker = secrets.token_hex(8)
        supervision = await Supervision.begin(
            folder=temporary_folder(None) / f"{PREFIX}{marker}",
            marker=marker,
            log=Path(logs) / "supervisor.log",
        )
        try:
            return await obtain(supervision, Path(logs) / "fetch.log")
        finally:
            await supervision.end()


def main() -> None:
    """Fetch, and say what came of it."""
    try:
        source = asyncio.run(fetch())
    except LabError as problem:
        sys.stdout.write(f"Toxiproxy {VERSION} could not be looked for: {problem.message}\n")
        return
    sys.stdout.write(f"{source.notice or f'Toxiproxy {VERSION} is at {source.program}'}\n")


if __name__ == "__main__":
    main()
