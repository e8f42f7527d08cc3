"""Free TCP ports on the loopback address."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lastseat.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Started = TypeVar("Started")

LOOPBACK = "127.0.0.1"

# Servers get ports below the range that the kernel gives to outgoing connections. A port from that range could be
# taken by a client while its server is down, and a client that reconnects to it may even meet itself.
_LOWEST = 15_000
_HIGHEST = 32_767
_TRIES = 200
START_TRIES = 5
_ADDRESS_IN_USE = "address already in use"  # so say all servers of the lab, in one case or another


def netloc(host: str, port: int) -> str:
    """Return host:port as a URL writes it, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def ceiling() -> int:
    """Return the highest port that no outgoing connection will be given."""
    try:
        first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _HIGHEST
    return min(_HIGHEST, first_ephemeral - 1) if first_ephemeral > _LOWEST + _TRIES else _HIGHEST


def is_free(port: int) -> bool:
    """Tell whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: TIME_WAIT is no obstacle
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(taken: set[int]) -> int:
    """Return a free port that is not in `taken`, and add it there; raises LabError when none is found."""
    highest = ceiling()
    for _ in range(_TRIES):
        port = random.randint(_LOWEST, highest)  # noqa: S311 - not a secret
        if port not in taken and is_free(port):
            taken.add(port)
            return port
    raise LabError(
        f"no free port was found in {_TRIES} tries",
        where=f"{LOOPBACK}:{_LOWEST}-{highest}",
        remedy="see what listens there (ss -ltn); another lab may have been left behind (lastseat doctor)",
    )


async def on_a_free_port(start: Callable[[int], Awaitable[Started]], taken: set[int]) -> Started:
    """Start a server on a free port, and on another where somebody else was quicker; raises `start`'s last LabError."""
    tries = 0
    while True:
        tries += 1
        try:
            return await start(free_port(taken))
        except LabError as problem:
            if _ADDRESS_IN_USE not in problem.log_tail.lower() or tries == START_TRIES:
                raise
