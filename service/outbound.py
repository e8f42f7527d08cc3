"""Requests to parties outside: one JSON POST with a deadline, away from the event loop."""

from __future__ import annotations

import asyncio
import http.client
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

_ANSWER_BYTES_MAX: Final = 65_536


class Unreachable(Exception):  # noqa: N818 - the other side's state, not a fault here
    """No answer was had; whether the request had its effect is unknown."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the other side answered."""

    status: int
    body: bytes


async def post(url: str, body: bytes, *, headers: dict[str, str], timeout_ms: int) -> Told:
    """POST JSON and return the answer; raises Unreachable where none comes in time."""
    return await asyncio.to_thread(_post, url, body, headers, timeout_ms / 1_000)


def _post(url: str, body: bytes, headers: dict[str, str], timeout_seconds: float) -> Told:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_seconds)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return Told(status=answer.status, body=answer.read(_ANSWER_BYTES_MAX))
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(repr(error)) from error
    finally:
        connection.close()
