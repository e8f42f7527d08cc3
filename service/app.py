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
from service.reservation import routes
from service.reservation.admission.bulkhead import Bulkhead
from service.reservation.admission.gate import Gate
from service.web import Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.settings import Settings

LOG: Final = logging.getLogger("service.app")


async def build(settings: Settings) -> Starlette:
    """Put a node together; neither PostgreSQL nor Redis needs to be there yet."""
    database = await Database.open(settings, application="reservation-node")
    gate = Gate(Bulkhead(settings.bulkhead_permits, retry_after_ms=settings.admission_retry_after_ms))
    health = Health(database, _no_redis)
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

    app = Starlette(
        routes=[
            Route("/health/live", health.live, methods=["GET"]),
            Route("/health/ready", health.ready, methods=["GET"]),
            *(_route(operation, gate, settings) for operation in operations),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: web.unrouted},  # type: ignore[dict-item]  # Starlette types it too widely
    )
    app.router.redirect_slashes = False
    return app


def _route(operation: web.Operation, gate: Gate, settings: Settings) -> Route:
    endpoint = Endpoint(operation, gate, settings)

    async def answer(request: Any) -> Any:
        return await endpoint(request)

    return Route(operation.path, answer, methods=[operation.method], name=operation.name)


async def _warm(database: Database) -> None:
    try:
        await database.warm()
    except* Refused:
        LOG.warning("booted without a database connection; the next request tries again")


async def _no_redis() -> bool:
    return False
