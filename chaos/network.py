"""The network between the parts of a lab: named links through Toxiproxy, which can be cut and poisoned.

The only file that knows toxiproxy-python. Its consumer keeps host and port on the class, knows no timeout and
lets every status but 400, 404 and 409 pass, and switches a proxy by a POST that Toxiproxy calls deprecated; a
subclass for each `Network` cures the first and the last, and every call here gives a timeout, checks the status
and reads the answer back, since Toxiproxy takes a misspelt attribute with 200 and sets it to zero.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
from toxiproxy.api import APIConsumer, requests, validate_response
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

if TYPE_CHECKING:
    from collections.abc import Mapping

Stream = Literal["upstream", "downstream"]
Shape = TypeVar("Shape")

_CONNECT_SECONDS = 2.0
_ANSWER_SECONDS = 28.0  # Toxiproxy gives up by itself after 25 s, which a blocked removal may take
_DIRECT = {"http": ""}  # never through an HTTP proxy from the environment
_RETRY_SECONDS = 0.01
_SINGLE_PRECISION = 1e-6  # Toxiproxy keeps a toxicity as a float of 32 bits


class NetworkError(Exception):
    """The proxy server did not do what it was asked; the text says what, where and why."""


class Toxic(msgspec.Struct, frozen=True, kw_only=True):
    """One toxic on one direction of a link; attributes in the units of research on Toxiproxy 2.12 (ms, KB/s, bytes, µs)."""

    name: str
    type: str
    stream: Stream = "downstream"
    attributes: dict[str, int] = {}
    toxicity: float = 1.0


class _Proxy(msgspec.Struct, frozen=True):
    """A proxy as the server shows it."""

    name: str
    listen: str
    upstream: str
    enabled: bool
    toxics: tuple[Toxic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A proxied way from one part of the lab to another, and the address where it is entered."""

    name: str
    host: str
    port: int
    upstream: str
    enabled: bool = True
    toxics: tuple[Toxic, ...] = field(default=())

    @property
    def address(self) -> str:
        """The address to connect to instead of the upstream's."""
        return f"{self.host}:{self.port}"


class _Consumer(APIConsumer):  # type: ignore[misc]  # the library has no types
    """The library's consumer, and the verb that it lacks."""

    @classmethod
    def patch(cls, url: str, **kwargs: Any) -> Any:
        """Use the PATCH method to change what is there."""
        return validate_response(requests.patch(url=f"http://{cls.host}:{cls.port}{url}", **kwargs))


class Network:
    """The links of one proxy server at `host:port`; every method runs off the event loop and raises NetworkError.

    A cancelled call is waited for before the cancellation goes on, so that nothing lands after the nemesis healed.
    """

    def __init__(self, host: str, port: int) -> None:
        self.address = f"{host}:{port}"
        self._consumer = type("Consumer", (_Consumer,), {"host": host, "port": port})

    async def version(self) -> str:
        """Ask the server which version it is."""
        return (await self._ask(dict[str, str], "get", "/version", 200))["version"]

    async def create(self, name: str, upstream: str, listen: str = "127.0.0.1:0") -> Link:
        """Lay a link to `upstream` (host:port) and wait until it listens; the port is picked free by default."""
        body = {"name": name, "upstream": upstream, "listen": listen, "enabled": True}
        link = _link(await self._ask(_Proxy, "post", "/proxies", 201, body))
        if (link.name, link.upstream, link.enabled) != (name, upstream, True) or link.port == 0:
            raise NetworkError(f"asked {self.address} for link {name} to {upstream}, but it made {link}")
        await self.listening(link)
        return link

    async def delete(self, name: str) -> None:
        """Take a link away with everything on it."""
        await self._send("delete", f"/proxies/{name}", 204)

    async def links(self) -> dict[str, Link]:
        """Show every link as the server has it now."""
        shown = await self._ask(dict[str, _Proxy], "get", "/proxies", 200)
        return {name: _link(proxy) for name, proxy in shown.items()}

    async def cut(self, name: str) -> None:
        """Close every connection of a link and refuse new ones."""
        await self._switch(name, enabled=False)

    async def restore(self, name: str) -> None:
        """Listen again on the same address; toxics are still there."""
        await self.listening(await self._switch(name, enabled=True))

    async def add(self, name: str, toxic: Toxic) -> None:
        """Put a toxic on a link, read it back and compare; one that came out otherwise is taken off again."""
        path = f"/proxies/{name}/toxics"
        await self._send("post", path, 200, msgspec.to_builtins(toxic))
        shown = await self._ask(Toxic, "get", f"{path}/{toxic.name}", 200)
        if not _same(shown, toxic):
            await self.remove(name, toxic.name)
            raise NetworkError(
                f"asked for {toxic} on {name}, but {self.address} has {shown}: a misspelt attribute?"
            )

    async def remove(self, name: str, toxic: str) -> None:
        """Take the toxic of that name off a link."""
        await self._send("delete", f"/proxies/{name}/toxics/{toxic}", 204)

    async def clear(self, name: str, tag: str) -> None:
        """Take every toxic whose name begins with `tag` off a link; none is fine too."""
        for toxic in await self._ask(list[Toxic], "get", f"/proxies/{name}/toxics", 200):
            if toxic.name.startswith(tag):
                await self.remove(name, toxic.name)

    async def reset(self) -> None:
        """Enable every link of this server and take every toxic off, then check that it is so."""
        await self._send("post", "/reset", 204)
        for link in (await self.links()).values():
            if not link.enabled or link.toxics:
                raise NetworkError(
                    f"after a reset of {self.address} link {link.name} is still broken: {link}"
                )

    async def listening(self, link: Link, *, within_seconds: float = 5.0) -> None:
        """Wait until a TCP connection to a link is accepted."""
        try:
            async with asyncio.timeout(within_seconds):
                while True:
                    if await _connects(link.host, link.port):
                        return
                    await asyncio.sleep(_RETRY_SECONDS)
        except TimeoutError:
            raise NetworkError(
                f"link {link.name} does not listen on {link.address} after {within_seconds} s"
            ) from None

    async def _switch(self, name: str, *, enabled: bool) -> Link:
        link = _link(await self._ask(_Proxy, "patch", f"/proxies/{name}", 200, {"enabled": enabled}))
        if link.enabled is not enabled:
            raise NetworkError(
                f"asked {self.address} for enabled={enabled} on link {name}, but it has {link}"
            )
        return link

    async def _ask(
        self, shape: type[Shape], verb: str, path: str, status: int, body: Mapping[str, Any] | None = None
    ) -> Shape:
        content = await self._send(verb, path, status, body)
        try:
            return msgspec.json.decode(content, type=shape)
        except msgspec.MsgspecError as error:
            raise NetworkError(
                f"{verb.upper()} {path} at {self.address} answered no {shape}: {error}"
            ) from error

    async def _send(self, verb: str, path: str, status: int, body: Mapping[str, Any] | None = None) -> bytes:
        sending = asyncio.ensure_future(asyncio.to_thread(self._exchange, verb, path, status, body))
        cancelled: asyncio.CancelledError | None = None
        while not sending.done():  # bounded by the timeouts of the request
            try:
                await asyncio.wait({sending})
            except asyncio.CancelledError as order:
                cancelled = order
        if cancelled is not None:
            raise cancelled
        return sending.result()

    def _exchange(self, verb: str, path: str, status: int, body: Mapping[str, Any] | None) -> bytes:
        what = f"{verb.upper()} {path} at {self.address}"
        kwargs: dict[str, Any] = {"timeout": (_CONNECT_SECONDS, _ANSWER_SECONDS), "proxies": _DIRECT}
        if body is not None:
            kwargs["json"] = body
        try:
            response = getattr(self._consumer, verb)(path, **kwargs)
        except (InvalidToxic, NotFound, ProxyExists) as refusal:
            raise NetworkError(f"{what} was refused: {_told(refusal.args[0])}") from refusal
        except OSError as error:  # every exception of requests is one
            raise NetworkError(f"{what} failed: {error}") from error
        if response.status_code != status:
            raise NetworkError(
                f"{what} answered {response.status_code} instead of {status}: {_told(response.content)}"
            )
        return bytes(response.content)


async def _connects(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def _same(shown: Toxic, wished: Toxic) -> bool:
    """Compare what the server has with what it was asked for; attributes that were left out may be anything."""
    kept = {attribute: shown.attributes.get(attribute) for attribute in wished.attributes}
    return (shown.type, shown.stream, kept) == (
        wished.type,
        wished.stream,
        wished.attributes,
    ) and math.isclose(shown.toxicity, wished.toxicity, rel_tol=_SINGLE_PRECISION)


def _link(proxy: _Proxy) -> Link:
    host, _, port = proxy.listen.rpartition(":")
    return Link(
        name=proxy.name,
        host=host.strip("[]"),
        port=int(port or 0),
        upstream=proxy.upstream,
        enabled=proxy.enabled,
        toxics=proxy.toxics,
    )


def _told(content: bytes) -> str:
    return content.decode(errors="replace").strip()
