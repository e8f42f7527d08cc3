"""The route table of the reservation control plane; the OpenAPI document is generated from it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from service import errors
from service.errors import Refused
from service.reservation import bodies, holds, idempotency, resources
from service.reservation.holds import Order
from service.reservation.idempotency import Answered, Scope
from service.web import Operation, Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from service.database import Connection, Database
    from service.reservation.idempotency import Answer
    from service.settings import Settings
    from service.web import Call


class Handlers:
    """What carries the operations out, over one database and one set of limits."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def list_resources(self, call: Call) -> Reply:
        """Answer GET /api/resources."""
        rows = call.query["limit"] or self._settings.page_rows_default
        if rows > self._settings.page_rows_max:
            raise Refused(errors.INVALID_QUERY)
        page = await self._database.read(
            lambda connection: resources.page(
                connection, tenant=call.caller.tenant, after=call.query["after"], rows=rows
            )
        )
        return _shown(page)

    async def show_resource(self, call: Call) -> Reply:
        """Answer GET /api/resources/{id}."""
        row = await self._database.read(
            lambda connection: resources.find(connection, tenant=call.caller.tenant, resource=call.id)
        )
        return _shown(bodies.Resource.of(row))

    async def create_resource(self, call: Call) -> Reply:
        """Answer POST /api/resources."""
        body = resources.complete(call.body, self._settings)
        payload = msgspec.to_builtins(body)
        return await self._command(
            "resource.create",
            call,
            payload,
            lambda connection: resources.create(connection, call.caller.tenant, body),
        )

    async def place_hold(self, call: Call) -> Reply:
        """Answer POST /api/resources/{id}/holds."""
        if call.body.quantity > self._settings.hold_quantity_max:
            raise Refused(errors.INVALID_BODY)
        order = Order(
            tenant=call.caller.tenant,
            owner_digest=call.caller.owner_digest,
            key=call.key,
            resource=call.id,
            quantity=call.body.quantity,
            expected_revision=call.body.expected_resource_revision,
        )
        return _answered(await holds.place(self._database, order))

    async def show_hold(self, call: Call) -> Reply:
        """Answer GET /api/holds/{id}."""
        row = await self._database.read(
            lambda connection: holds.find(connection, tenant=call.caller.tenant, hold=call.id)
        )
        _readable(row, call)
        return _shown(bodies.Hold.of(row))

    async def _command(
        self, operation: str, call: Call, payload: Any, work: Callable[[Connection], Awaitable[Answer]]
    ) -> Reply:
        """Carry a command out by the two-step path."""
        scope = Scope(tenant=call.caller.tenant, operation=operation, key=call.key)
        mark = idempotency.fingerprint(operation, payload, call.caller.owner_digest)
        lease = timedelta(seconds=self._settings.idempotency_lease_seconds)
        return _answered(await idempotency.execute(self._database, scope, mark, work, lease=lease))


def _shown(body: msgspec.Struct) -> Reply:
    return Reply(status=200, body=msgspec.json.encode(body))


def _answered(answered: Answered) -> Reply:
    return Reply(status=answered.answer.status, body=answered.answer.body, replayed=answered.replayed)


def _readable(row: Any, call: Call) -> None:
    """Raise Refused (OWNER_MISMATCH) unless the row is the caller's or the caller administers the tenant."""
    if row["owner_digest"] != call.caller.owner_digest and not call.caller.admin:
        raise Refused(errors.OWNER_MISMATCH)


def table(database: Database, settings: Settings) -> list[Operation]:
    """Return every operation of the control plane."""
    handlers = Handlers(database, settings)
    return [
        Operation(
            name="listResources", method="GET", path="/api/resources", summary="The tenant's resources, page by page",
            handle=handlers.list_resources, answer=bodies.ResourcePage, query={"after": 0, "limit": 0},
        ),
        Operation(
            name="createResource", method="POST", path="/api/resources", summary="Put a resource on offer",
            handle=handlers.create_resource, body=bodies.NewResource, answer=bodies.Resource, status=201, admin=True,
        ),
        Operation(
            name="showResource", method="GET", path="/api/resources/{id}", summary="One resource and its count",
            handle=handlers.show_resource, answer=bodies.Resource, missing=errors.RESOURCE_NOT_FOUND,
        ),
        Operation(
            name="placeHold", method="POST", path="/api/resources/{id}/holds", summary="Hold a seat, or several",
            handle=handlers.place_hold, body=bodies.NewHold, answer=bodies.TakenHold, status=201,
            missing=errors.RESOURCE_NOT_FOUND,
        ),
        Operation(
            name="showHold", method="GET", path="/api/holds/{id}", summary="One hold, to its owner",
            handle=handlers.show_hold, answer=bodies.Hold, missing=errors.HOLD_NOT_FOUND,
        ),
    ]  # fmt: skip
