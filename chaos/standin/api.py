"""Toxiproxy's HTTP API over the stand-in's proxies."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from chaos.standin.proxy import AddressError, Proxy
from chaos.standin.toxics import TYPES, Toxic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

Shape = TypeVar("Shape")
VERSION = "2.12.0-stand-in"


class ApiError(Exception):
    """An answer of the form {"error", "status"}."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class ProxyBody(msgspec.Struct):
    """What a client may say of a proxy; what is left out stays as it is."""

    name: str = ""
    listen: str | None = None
    upstream: str | None = None
    enabled: bool | None = None


class ToxicBody(msgspec.Struct):
    """What a client may say of a toxic."""

    name: str = ""
    type: str = ""
    stream: str = "downstream"
    toxicity: float | None = None
    attributes: msgspec.Raw = msgspec.Raw(b"{}")


class Api:
    """All proxies of this process by name."""

    def __init__(self) -> None:
        self.proxies: dict[str, Proxy] = {}

    def application(self) -> Starlette:
        """Make the ASGI application."""
        proxy, toxic = "/proxies/{proxy}", "/proxies/{proxy}/toxics/{toxic}"
        routes = [
            self._route("GET", "/version", self.version),
            self._route("POST", "/reset", self.reset),
            self._route("POST", "/populate", self.populate),
            self._route("GET", "/proxies", self.list_proxies),
            self._route("POST", "/proxies", self.create_proxy),
            self._route("GET", proxy, self.show_proxy),
            self._route("POST PATCH", proxy, self.update_proxy),
            self._route("DELETE", proxy, self.delete_proxy),
            self._route("GET", proxy + "/toxics", self.list_toxics),
            self._route("POST", proxy + "/toxics", self.create_toxic),
            self._route("GET", toxic, self.show_toxic),
            self._route("POST PATCH", toxic, self.update_toxic),
            self._route("DELETE", toxic, self.delete_toxic),
        ]
        return Starlette(routes=routes)

    async def version(self, _request: Request) -> Response:
        """Tell which version this speaks."""
        return _json({"version": VERSION})

    async def reset(self, _request: Request) -> Response:
        """Enable every proxy and remove every toxic."""
        for proxy in list(self.proxies.values()):
            await proxy.start()
            for toxic in list(proxy.toxics):
                await proxy.remove(toxic)
        return Response(status_code=204)

    async def populate(self, request: Request) -> Response:
        """Create proxies, or replace those whose addresses differ."""
        bodies = _decode(await request.body(), list[ProxyBody])
        for place, body in enumerate(bodies, start=1):
            _require(body, suffix=f" at proxy {place}")
        made = [await self._add_or_replace(body) for body in bodies]
        return _json({"proxies": [_shown(proxy) for proxy in made]}, 201)

    async def list_proxies(self, _request: Request) -> Response:
        """Show every proxy by name."""
        return _json({name: _shown(proxy) for name, proxy in self.proxies.items()})

    async def create_proxy(self, request: Request) -> Response:
        """Create a proxy, enabled unless told otherwise."""
        body = _decode(await request.body(), ProxyBody)
        _require(body)
        if body.name in self.proxies:
            raise ApiError("proxy already exists", 409)
        return _json(_shown(await self._add(body)), 201)

    async def show_proxy(self, request: Request) -> Response:
        """Show one proxy."""
        return _json(_shown(self._proxy(request)))

    async def update_proxy(self, request: Request) -> Response:
        """Move or switch a proxy."""
        proxy = self._proxy(request)
        body = _decode(await request.body(), ProxyBody)
        await proxy.update(
            listen=proxy.listen if body.listen is None else body.listen,
            upstream=proxy.upstream if body.upstream is None else body.upstream,
            enabled=proxy.enabled if body.enabled is None else body.enabled,
        )
        return _json(_shown(proxy))

    async def delete_proxy(self, request: Request) -> Response:
        """Stop a proxy and forget it."""
        proxy = self._proxy(request)
        del self.proxies[proxy.name]
        await proxy.stop()
        return Response(status_code=204)

    async def list_toxics(self, request: Request) -> Response:
        """Show the toxics of a proxy, upstream ones first."""
        return _json(_ordered(self._proxy(request)))

    async def create_toxic(self, request: Request) -> Response:
        """Add a toxic; attribute names that its type does not know are ignored."""
        proxy = self._proxy(request)
        body = _decode(await request.body(), ToxicBody)
        stream = body.stream.lower()
        if stream not in {"upstream", "downstream"}:
            raise ApiError("stream was invalid, can be either upstream or downstream", 400)
        if body.type not in TYPES:
            raise ApiError("invalid toxic type", 400)
        name = body.name or f"{body.type}_{stream}"
        if any(toxic.name == name for toxic in proxy.toxics):
            raise ApiError("toxic already exists", 409)
        attributes = _decode(bytes(body.attributes), TYPES[body.type])
        toxicity = 1.0 if body.toxicity is None else body.toxicity
        toxic = Toxic(attributes=attributes, name=name, type=body.type, stream=stream, toxicity=toxicity)
        await proxy.add(toxic)
        return _json(toxic)

    async def show_toxic(self, request: Request) -> Response:
        """Show one toxic."""
        return _json(self._toxic(request))

    async def update_toxic(self, request: Request) -> Response:
        """Change attributes or toxicity; everything else in the body is ignored."""
        toxic = self._toxic(request)
        body = _decode(await request.body(), ToxicBody)
        changed = msgspec.structs.asdict(toxic.attributes) | _decode(
            bytes(body.attributes), dict[str, object]
        )
        try:
            toxic.attributes = msgspec.convert(changed, type(toxic.attributes))
        except msgspec.ValidationError as error:
            raise ApiError(f"bad request body: {error}", 400) from error
        toxic.toxicity = toxic.toxicity if body.toxicity is None else body.toxicity
        await self._proxy(request).update_toxic(toxic)
        return _json(toxic)

    async def delete_toxic(self, request: Request) -> Response:
        """Remove a toxic from every connection, then answer."""
        await self._proxy(request).remove(self._toxic(request))
        return Response(status_code=204)

    async def _add(self, body: ProxyBody) -> Proxy:
        proxy = Proxy(body.name, body.listen or "", body.upstream or "")
        if body.enabled is not False:
            await proxy.start()
        self.proxies[proxy.name] = proxy
        return proxy

    async def _add_or_replace(self, body: ProxyBody) -> Proxy:
        existing = self.proxies.get(body.name)
        if existing is None:
            return await self._add(body)
        if not await existing.differs(body.listen or "", body.upstream or ""):
            return existing
        await existing.stop()
        return await self._add(body)

    def _proxy(self, request: Request) -> Proxy:
        try:
            return self.proxies[request.path_params["proxy"]]
        except KeyError:
            raise ApiError("proxy not found", 404) from None

    def _toxic(self, request: Request) -> Toxic:
        name = request.path_params["toxic"]
        for toxic in self._proxy(request).toxics:
            if toxic.name == name:
                return toxic
        raise ApiError("toxic not found", 404)

    @staticmethod
    def _route(methods: str, path: str, answer: Callable[[Request], Awaitable[Response]]) -> Route:
        async def endpoint(request: Request) -> Response:
            if request.headers.get("user-agent", "").startswith("Mozilla/"):
                return PlainTextResponse("User agent not allowed\n", 403)
            try:
                return await answer(request)
            except ApiError as error:
                return _json({"error": error.message, "status": error.status}, error.status)
            except AddressError as error:
                return _json({"error": str(error), "status": 500}, 500)

        return Route(path, endpoint, methods=methods.split())


def _require(body: ProxyBody, suffix: str = "") -> None:
    for field in ("name", "upstream"):
        if not getattr(body, field):
            raise ApiError(f"missing required field: {field}{suffix}", 400)


def _ordered(proxy: Proxy) -> list[Toxic]:
    return sorted(proxy.toxics, key=lambda toxic: toxic.stream == "downstream")


def _shown(proxy: Proxy) -> dict[str, object]:
    shown: dict[str, object] = {
        field: getattr(proxy, field) for field in ("name", "listen", "upstream", "enabled")
    }
    return shown | {"toxics": _ordered(proxy)}


def _decode(body: bytes, shape: type[Shape]) -> Shape:
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.MsgspecError as error:
        raise ApiError(f"bad request body: {error}", 400) from error


def _json(content: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")
