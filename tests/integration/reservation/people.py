"""Those who talk to a node over HTTP, each with a token of their own."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jwt

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN_SECRET = "t" * 32
_KEYS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Person:
    """Somebody with a token; every request goes over a connection of its own unless one is idle."""

    port: int
    subject: str
    tenant: str = "demo"
    role: str | None = None
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)

    @property
    def token(self) -> str:
        claims = {
            "sub": self.subject,
            "tenant": self.tenant,
            "exp": int(time.time()) + 3_600,
            "role": self.role,
        }
        return jwt.encode({k: v for k, v in claims.items() if v is not None}, TOKEN_SECRET, algorithm="HS256")

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.send("GET", path, b"", headers)

    async def post(self, path: str, body: Any = None, *, key: str | None = None, **headers: str) -> Answer:
        raw = b"" if body is None else json.dumps(body).encode()
        return await self.send("POST", path, raw, {"Idempotency-Key": key or f"key-{next(_KEYS)}"} | headers)

    async def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        all_headers = {
            "Host": "service", "Authorization": f"Bearer {self.token}", "Content-Length": str(len(body)), **headers
        }  # fmt: skip
        head = "".join(f"{name}: {value}\r\n" for name, value in all_headers.items() if value)
        async with asyncio.timeout(20):
            reader, writer = (
                self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
            )
            writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
            answer = await _read_answer(reader)
        if answer.headers.get("connection") == "close":
            writer.close()
        else:
            self.idle.append((reader, writer))
        return answer

    def close(self) -> None:
        for _, writer in self.idle:
            writer.close()


async def _read_answer(reader: asyncio.StreamReader) -> Answer:
    status_line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(int(status_line.split()[1]), headers, body)
