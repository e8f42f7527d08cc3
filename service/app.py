"""The application of one node: its parts put together, its routes, its start and its end."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from service import web
from service.database import Database
from service.errors import Refused
from service.health import Health
from service.metrics import NodeMetrics
from service.openapi import Document
from service.reservation import routes
from service.reservation.admission.breaker import Breaker
from service.reservation.admission.bulkhead import Bulkhead
from service.reservation.admission.gate import Gate
from service.reservation.admission.redis_gate import RedisGate
from service.tokens import Tokens
from service.web import Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from service.settings import Settings

LOG: Final = logging.getLogger("service.app")


async def build(settings: Settings) -> Starlette:
    """Put a node together; neither PostgreSQL nor Redis needs to be there yet."""
    database = await Database.open(settings, application="reservation-node", for_commands=True)
    gate = _gate(settings)
    metrics = NodeMetrics(database, gate)
    tokens = Tokens(settings)
    health = Health(database, gate.redis.answers if gate.redis else _no_redis)
    operations = routes.table(database, settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(_warm(database))
        try:
            yield
        finally:
            warming.cancel()
            with suppress(asyncio.CancelledError):
                await warming
            await database.close()
            if gate.redis is not None:
                await gate.redis.close()

    app = Starlette(
        routes=[
            Route("/health/live", health.live, methods=["GET"]),
            Route("/health/ready", health.ready, methods=["GET"]),
            Route("/openapi.json", Document(operations).show, methods=["GET"]),
            Route("/metrics", metrics.show, methods=["GET"]),
            *_routes(Endpoint(operation, gate, metrics, tokens, settings) for operation in operations),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: web.unrouted, Exception: web.unforeseen},  # type: ignore[dict-item]  # Starlette types it too widely
    )
    app.router.redirect_slashes = False
    return app


def _gate(settings: Settings) -> Gate:
    retry_after_ms = settings.admission_retry_after_ms
    bulkhead = Bulkhead(settings.bulkhead_permits, retry_after_ms=retry_after_ms)
    breaker = Breaker(failures=settings.breaker_failures, open_ms=settings.breaker_open_ms)
    redis = RedisGate(settings, breaker) if settings.redis_enabled else None
    return Gate(bulkhead, redis, retry_after_ms=retry_after_ms)


def _routes(endpoints: Iterable[Endpoint]) -> list[Route]:
    """Make one route a path: of two for one path, the first would say that its methods are all that there are."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.operation.path, {})[endpoint.operation.method] = endpoint
    return [_route(path, by_method) for path, by_method in by_path.items()]


def _route(path: str, by_method: dict[str, Endpoint]) -> Route:
    async def answer(request: Any) -> Any:
        return await by_method["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answer, methods=list(by_method))


async def _warm(database: Database) -> None:
    try:
        await database.warm()
    except* Refused:
        LOG.warning("booted without a database connection; the next request tries again")


async def _no_redis() -> bool:
    return False
