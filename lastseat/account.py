"""The unprivileged user that servers run as when the runner is root, and whether it can reach a program."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lastseat.cache import cache_folder, filling
from lastseat.errors import LabError

CHOICE = "LASTSEAT_SERVER_USER"
_CANDIDATES = ("nobody", "daemon")
_COPY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Account:
    """The operating-system user that a server runs as."""

    name: str
    uid: int
    gid: int


def server_account() -> Account | None:
    """Return the user for servers, None when the runner is not root and they may run as it does.

    PostgreSQL refuses to run as root. $LASTSEAT_SERVER_USER names another; raises LabError when there is none.
    """
    if os.geteuid() != 0:
        return None
    chosen = os.environ.get(CHOICE)
    for name in (chosen,) if chosen else _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise LabError(
        "as root the servers need an unprivileged user, and none was found",
        where=chosen or ", ".join(_CANDIDATES),
        remedy=f"name an existing one in {CHOICE}, or run as an ordinary user",
    )


def can_reach(account: Account | None, program: Path) -> bool:
    """Tell whether a user may enter every folder on the way to a program and run it (by mode bits alone)."""
    if account is None:
        return os.access(program, os.X_OK)
    resolved = program.resolve()
    return all(_may_execute(account, step.stat()) for step in (resolved, *resolved.parents))


def _may_execute(account: Account, found: os.stat_result) -> bool:
    if found.st_uid == account.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid == account.gid:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)


def temporary_places() -> tuple[Path, ...]:
    """Return where labs put their private folders, in order of preference."""
    return (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - private ones are made there


def temporary_folder(account: Account | None) -> Path:
    """Return a folder for temporary files that the user can pass through; raises LabError when there is none."""
    for place in temporary_places():
        if place.is_dir() and (account is None or can_reach(account, place)):
            return place.resolve()
    raise LabError(
        f"{account.name if account else 'this user'} can enter no temporary folder",
        where=tempfile.gettempdir(),
        remedy="set TMPDIR to a folder on a path that every user may enter",
    )


@dataclass(frozen=True, slots=True)
class Bundle:
    """A program with all that it needs beside it: `parts` are entries of `root`, those that are not there left out.

    `name` carries the version: it names the copy in the cache.
    """

    name: str
    root: Path
    parts: tuple[str, ...]
    program: str


async def reachable(account: Account | None, bundle: Bundle) -> Path:
    """Return the program of a bundle, or that of a copy made once in the cache, where the user can run it."""
    original = bundle.root / bundle.program
    if can_reach(account, original):
        return original
    place = cache_folder() / bundle.name
    async with filling(place, within_seconds=_COPY_SECONDS) as partial:
        if partial is not None:
            await asyncio.to_thread(_copy, bundle, partial)
    if not can_reach(account, place / bundle.program):
        raise LabError(
            f"{account.name if account else 'this user'} can reach neither {original} nor its copy",
            where=str(place),
            remedy="set LASTSEAT_CACHE to a folder on a path that every user may enter",
        )
    return place / bundle.program


def _copy(bundle: Bundle, partial: Path) -> None:
    for part in bundle.parts:
        original = bundle.root / part
        if original.is_dir():
            shutil.copytree(original, partial / part, symlinks=True)
        elif original.exists():
            shutil.copy2(original, partial / part)
    for path in partial.rglob("*"):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444))
