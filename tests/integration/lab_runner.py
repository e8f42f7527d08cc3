"""A runner to be killed: brings up a lab with some children, says what there is on one line, and waits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

import psutil

from lastseat.lab import Lab

# Children that would live for ten minutes: that they are gone within seconds is then somebody's doing.
STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
DAEMON = "import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(600)"


async def run(folder: Path, mischief: str) -> None:
    async with Lab.start(folder=folder) as lab:
        await lab.spawn("stubborn", [sys.executable, "-S", "-c", STUBBORN])
        daemon = await lab.spawn("daemon", [sys.executable, "-S", "-c", DAEMON])
        await daemon.wait(5)  # its grandchild lives on, in a session of its own
        import asyncpg  # noqa: PLC0415 - after the lab, as a scenario does

        session = await asyncpg.connect(await lab.create_database("sale"))
        await session.execute("CREATE TABLE seats (id int)")
        backend = await session.fetchval("SELECT pg_backend_pid()")
        found = about(lab)
        await do(mischief, lab, backend)
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
        await asyncio.sleep(600)


async def do(mischief: str, lab: Lab, backend: int) -> None:
    if mischief == "stopped backend":
        os.kill(backend, signal.SIGSTOP)
    elif mischief == "stopped postmaster":
        lab.postgres.child.signal(signal.SIGSTOP)
    elif mischief == "stopped child":
        lab.valkey.child.signal(signal.SIGSTOP)
    elif mischief == "everything stopped":
        for process in lab.postgres.family():
            process.suspend()
        lab.valkey.child.signal(signal.SIGSTOP)
    elif mischief == "crashed postgres":
        await lab.postgres.crash()
    elif mischief == "killed postmaster":
        await lab.postgres.child.kill()
    elif mischief == "forked runner" and os.fork() == 0:
        signal.pause()  # holds a copy of the link to the supervisor


def is_marked(process: psutil.Process, marker: str) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        return process.environ().get("LASTSEAT_LAB") == marker
    return False


def about(lab: Lab) -> dict[str, object]:
    supervisor = psutil.Process(lab.supervision.process.pid)
    marked = [process for process in psutil.process_iter() if is_marked(process, lab.environment_marker)]
    processes = {supervisor, *supervisor.children(recursive=True), *marked} - {psutil.Process()}
    pidfile = lab.supervision.folder / "postgres" / "data" / "postmaster.pid"
    return {
        "marker": lab.environment_marker,
        "folder": str(lab.supervision.folder),
        "supervisor": supervisor.pid,
        "processes": [(process.pid, process.create_time()) for process in processes],
        "segment": int(pidfile.read_text().splitlines()[6].split()[1]),
        "ports": [lab.postgres.port, lab.valkey.port, lab.toxiproxy.port],
    }


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
