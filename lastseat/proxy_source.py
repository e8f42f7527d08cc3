"""Where the Toxiproxy server comes from: found, built, downloaded, or stood in for."""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
import shutil
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lastseat.cache import cache_folder, filling
from lastseat.children import Start
from lastseat.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lastseat.supervision import Supervision

VERSION = "2.12.0"
MODULE = f"github.com/Shopify/toxiproxy/v2/cmd/server@v{VERSION}"
RELEASE = f"https://github.com/Shopify/toxiproxy/releases/download/v{VERSION}/toxiproxy-server-"
SHA256: Mapping[str, str] = {
    "linux-amd64": "556d891134a3c582dc1e1a3f7335fd55142e5965769855a00b944e13e48302fc",
    "linux-arm64": "53e770c1c3035b5a9f1bc629fce537db1f95f62b26f4ebe6e756afd701cf077c",
    "darwin-amd64": "9625bba4bd96117eedae49f982aba4c2f462b268dd406c9ff18186f9b1ef8afe",
    "darwin-arm64": "aa299966b52f16a8594f1cd0d1e9049dc2e8fe2c04a90c19860e2719b2b95d15",
}
"""Of the release files of 2.12.0; a file with another sum is not run."""

OFFLINE = "LASTSEAT_OFFLINE"
"""Set (to anything), nothing is fetched."""
BUILD_SECONDS = 300.0
"""With an empty module cache on two busy cores it took 131 s, with a warm one 2 s."""
DOWNLOAD_SECONDS = 60.0
_DOWNLOAD_BYTES_MAX = 64 * 1024 * 1024
_PROGRAM = "toxiproxy-server"


@dataclass(frozen=True, slots=True)
class Source:
    """One place the proxy can be had from; `program` None means the built-in stand-in, and `notice` why."""

    program: Path | None
    origin: str
    notice: str = ""


def cached() -> Path:
    """Return where the fetched server lies, or would."""
    return cache_folder() / f"toxiproxy-{VERSION}" / _PROGRAM


def find() -> Source | None:
    """Return a server that is on this machine already; raises LabError when $TOXIPROXY_BIN names none."""
    if chosen := os.environ.get("TOXIPROXY_BIN"):
        if not os.access(chosen, os.X_OK):
            raise LabError(
                "TOXIPROXY_BIN names no program that can be run",
                where=chosen,
                remedy="correct it, or unset it",
            )
        return Source(Path(chosen).resolve(), "TOXIPROXY_BIN")
    if found := shutil.which(_PROGRAM):
        return Source(Path(found).resolve(), "PATH")
    if os.access(cached(), os.X_OK):
        return Source(cached(), "cache")
    return None


def release_name() -> str:
    """Return how the release files call this platform, e.g. linux-amd64."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"{'darwin' if sys.platform == 'darwin' else 'linux'}-{machine}"


def download(url: str, into: Path) -> None:
    """Fetch a file over HTTPS, bounded in time per read and in size; raises OSError."""
    with urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS / 4) as answer:  # noqa: S310 - the address is a constant
        content = answer.read(_DOWNLOAD_BYTES_MAX)
    into.write_bytes(content)


def in_silence(_: str) -> None:
    """Say nothing."""


async def obtain(
    supervision: Supervision,
    log: Path,
    say: Callable[[str], None] = in_silence,
    fetch: Callable[[str, Path], None] = download,
) -> Source:
    """Return a server: found, else fetched once into the cache, else the stand-in with the reasons.

    Building and downloading each have a deadline, and what they leave half done is never run. `say` is told before
    it takes long.
    """
    if found := find():
        return found
    if os.environ.get(OFFLINE):
        return Source(None, "stand-in", _notice("nothing may be fetched, since LASTSEAT_OFFLINE is set"))
    try:
        async with filling(cached().parent, within_seconds=BUILD_SECONDS) as partial:
            if partial is not None:
                say(
                    f"fetching Toxiproxy {VERSION} into {cached().parent} (once; it may take minutes to build)"
                )
                await _fill(partial, supervision, log, fetch)
    except (LabError, OSError) as problem:
        return Source(None, "stand-in", _notice(str(problem).splitlines()[0]))
    return Source(cached(), "cache")


async def _fill(
    partial: Path, supervision: Supervision, log: Path, fetch: Callable[[str, Path], None]
) -> None:
    problems: list[str] = []
    if go := shutil.which("go"):
        try:
            return await _build(go, partial, supervision, log)
        except LabError as problem:
            problems.append(problem.message)
    try:
        return await _release(partial, fetch)
    except (LabError, OSError, TimeoutError) as problem:
        problems.append(f"the release file could not be had: {problem}")
    raise LabError("; ".join(problems), where=str(log))


async def _build(go: str, partial: Path, supervision: Supervision, log: Path) -> None:
    """Run `go install` under the supervisor, so that it too ends with the runner."""
    scratch = partial / "build"
    scratch.mkdir()
    version = f"-X github.com/Shopify/toxiproxy/v2.Version={VERSION}"  # as the release's own build sets it
    build = await supervision.spawn(
        Start(
            role="go install",
            argv=(go, "install", "-trimpath", "-ldflags", f"-s -w {version}", MODULE),
            env={
                **os.environ,
                "GOBIN": str(scratch),
                "GOTMPDIR": str(scratch),
                "GOFLAGS": "",
                "CGO_ENABLED": "0",
            },
            cwd=scratch,
            log=log,
        )
    )
    try:
        code = await build.wait(BUILD_SECONDS)
    except LabError:
        build.signal(9, whole_group=True)
        raise
    if code != 0:
        raise build.error(f"`go install {MODULE}` failed with exit code {code}")
    (scratch / "server").rename(partial / _PROGRAM)
    (partial / _PROGRAM).chmod(0o755)
    shutil.rmtree(scratch, ignore_errors=True)


async def _release(partial: Path, fetch: Callable[[str, Path], None]) -> None:
    """Download the release file of this platform and refuse it unless its sum is the known one."""
    name = release_name()
    if name not in SHA256:
        raise LabError(f"there is no known release file for {name}")
    file = partial / "download"
    await asyncio.wait_for(asyncio.to_thread(fetch, RELEASE + name, file), DOWNLOAD_SECONDS)
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != SHA256[name]:
        file.unlink()
        raise LabError(f"the file at {RELEASE + name} is not the known one: its SHA-256 is {found}")
    file.chmod(0o755)
    file.rename(partial / _PROGRAM)


def _notice(reason: str) -> str:
    return (
        f"Toxiproxy {VERSION} could not be had ({reason}); the built-in stand-in proxies instead. "
        "Install toxiproxy-server on PATH, or name it in TOXIPROXY_BIN."
    )
