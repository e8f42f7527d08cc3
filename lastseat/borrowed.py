"""Proxies in a Toxiproxy that was there already: whoever ends a lab takes the lab's own away, and no others.

Standard library only, for the supervisor, which does it when the runner was killed; the doctor does it when both were.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_NOTE = "toxiproxy.json"
_MARK_CHARACTERS = 6
_ANSWER_SECONDS = 1.0


def named(link: str, marker: str) -> str:
    """Return what a lab calls a link in a proxy server that it may share with others."""
    return f"{link}-{marker[:_MARK_CHARACTERS]}"


def note(folder: Path, host: str, port: int) -> None:
    """Note in a lab's private folder where its proxies are."""
    (folder / _NOTE).write_text(json.dumps({"host": host, "port": port}))


def take_back(folder: Path, marker: str) -> bool:
    """Delete the lab's proxies, with all that is on them; False where some may be left, so that the note must stay.

    A server that nobody reaches any more has none.
    """
    try:
        there = json.loads((folder / _NOTE).read_text())
        host, port = str(there["host"]), int(there["port"])
    except (OSError, ValueError, KeyError, TypeError):
        return True
    try:
        proxies = json.loads(_asked(host, port, "GET", "/proxies")[1])
        mine = [name for name in proxies if name.endswith(named("", marker))]
        return all(_asked(host, port, "DELETE", f"/proxies/{name}")[0] in (204, 404) for name in mine)
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError, TypeError):
        return False


def _asked(host: str, port: int, verb: str, path: str) -> tuple[int, bytes]:
    # Rarely needed, and a supervisor must start in milliseconds.
    from http.client import HTTPConnection, HTTPException  # noqa: PLC0415 - see above

    connection: Any = HTTPConnection(host, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request(verb, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except HTTPException as odd:
        raise OSError(str(odd)) from odd
    finally:
        connection.close()
