"""From a call to the module that carries it out, and from its answer to a reply."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from service import errors
from service.errors import Refused
from service.reservation import bodies, holds, idempotency, offering, once, resources, waitlist
from service.reservation.holds import Order
from service.reservation.idempotency import Answered, Scope
from service.reservation.rules import Action
from service.reservation.together import Together
from service.web import Reply

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from service.database import Connection, Database
    from service.reservation.idempotency import Answer
    from service.settings import Settings
    from service.web import Call

    Handler = Callable[[Call], Awaitable[Reply]]


class Handlers:
    """What carries the operations out, over one database and one set of limits."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._decide = Together(database, settings).decide if settings.holds_together else None

    async def list_resources(self, call: Call) -> Reply:
        """Show the tenant's resources, page by page."""
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
        """Show one resource and its count."""
        row = await self._database.read(
            lambda connection: resources.find(connection, tenant=call.caller.tenant, resource=call.id)
        )
        return _shown(bodies.Resource.of(row))

    async def create_resource(self, call: Call) -> Reply:
        """Put a resource on offer."""
        body = resources.complete(call.body, self._settings)
        return await self._command(
            "resource.create",
            call,
            body,
            lambda connection: resources.create(connection, call.caller.tenant, body),
        )

    async def close_resource(self, call: Call) -> Reply:
        """Take a resource off offer."""
        return await self._command(
            "resource.close",
            call,
            None,
            lambda connection: offering.close(connection, tenant=call.caller.tenant, resource=call.id),
        )

    async def resize_resource(self, call: Call) -> Reply:
        """Set a resource's capacity."""
        if call.body.capacity > self._settings.capacity_max:
            raise Refused(errors.INVALID_BODY)
        return await self._command(
            "resource.resize",
            call,
            call.body,
            lambda connection: offering.resize(
                connection, tenant=call.caller.tenant, resource=call.id, body=call.body
            ),
        )

    async def change_policy(self, call: Call) -> Reply:
        """Set a resource's policy and raise its version."""
        lifetimes = (call.body.hold_seconds, call.body.offer_seconds)
        if any(isinstance(life, float) and life > self._settings.lifetime_seconds_max for life in lifetimes):
            raise Refused(errors.INVALID_BODY)
        return await self._command(
            "resource.policy",
            call,
            call.body,
            lambda connection: offering.change_policy(
                connection, tenant=call.caller.tenant, resource=call.id, body=call.body
            ),
        )

    async def place_hold(self, call: Call) -> Reply:
        """Hold a seat, or several."""
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
        return _answered(await holds.place(self._database, order, lease=self._lease, decide=self._decide))

    async def join_waitlist(self, call: Call) -> Reply:
        """Stand at the end of a full resource's line."""
        return await self._command(
            "waitlist.join",
            call,
            None,
            lambda connection: waitlist.join(
                connection,
                tenant=call.caller.tenant,
                owner=call.caller.owner_digest,
                key=call.key,
                resource=call.id,
            ),
        )

    def act(self, operation: str, carry_out: Callable[[Connection, Action], Awaitable[Answer]]) -> Handler:
        """Make the handler of something that an owner does to one row of theirs."""

        async def handle(call: Call) -> Reply:
            action = Action(
                tenant=call.caller.tenant,
                owner_digest=call.caller.owner_digest,
                id=call.id,
                expected_revision=getattr(call.body, "expected_revision", None),
            )
            return await self._command(
                operation, call, call.body, lambda connection: carry_out(connection, action)
            )

        return handle

    def show(
        self, body: type[bodies.Reply], find: Callable[[Connection, str, int], Awaitable[Any]]
    ) -> Handler:
        """Make the handler that shows one row to its owner, or to who administers the tenant."""

        async def handle(call: Call) -> Reply:
            row = await self._database.read(lambda connection: find(connection, call.caller.tenant, call.id))
            if row["owner_digest"] != call.caller.owner_digest and not call.caller.admin:
                raise Refused(errors.OWNER_MISMATCH)
            return _shown(body.of(row))

        return handle

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self._settings.idempotency_lease_seconds)

    async def _command(
        self, operation: str, call: Call, body: Any, work: Callable[[Connection], Awaitable[Answer]]
    ) -> Reply:
        """Carry a command out by the two-step path."""
        scope = Scope(tenant=call.caller.tenant, operation=operation, key=call.key)
        mark = idempotency.fingerprint(operation, [call.id, body], call.caller.owner_digest)
        return _answered(await once.execute(self._database, scope, mark, work, lease=self._lease))


def _shown(body: msgspec.Struct) -> Reply:
    return Reply(status=200, body=msgspec.json.encode(body))


def _answered(answered: Answered) -> Reply:
    return Reply(status=answered.answer.status, body=answered.answer.body, replayed=answered.replayed)
