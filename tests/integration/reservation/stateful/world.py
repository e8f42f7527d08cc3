"""One resource in a real database, several nodes' handlers over pools of their own, and what everybody was told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from service.errors import Refused
from service.reservation import bodies, expiry, idempotency, leadership, resources
from service.reservation.expiry import Due
from service.reservation.idempotency import Scope
from service.tokens import Caller
from service.web import Call, Nothing
from tests.integration.reservation.stateful import commands as c
from tests.integration.reservation.stateful.said import Request, Told

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from service.database import Database
    from service.reservation.leadership import Term
    from service.web import Operation
    from tests.integration.reservation.stateful.judge import Judge, Seen

_ACTS: Final = {  # what → operation, its scope's name, and the rows that it is done to
    "confirm": ("confirmHold", "hold.confirm", "holds"),
    "cancel": ("cancelHold", "hold.cancel", "holds"),
    "accept": ("acceptOffer", "offer.accept", "offers"),
    "decline": ("declineOffer", "offer.decline", "offers"),
    "leave": ("leaveWaitlist", "waitlist.leave", "waitlist_entries"),
    "give_back": ("cancelReservation", "reservation.cancel", "reservations"),
}
_WITHOUT_BODY: Final = {
    "joinWaitlist",
    "closeResource",
}  # what the service takes for their payload is nothing
_ROOT: Final = "root"


@dataclass(slots=True)
class World:
    """The stage of one example."""

    nodes: list[dict[str, Operation]]
    database: Database
    term: Term
    judge: Judge
    resource: int
    tenant: str
    seen: Seen
    sent: list[Request] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)

    async def step(self, step: c.Step) -> None:
        """Carry out the commands of one step at the same time, then judge what they were told and what there is."""
        before = len(self.sent)
        works = [work for command in step for work in await self._works(command, self.sent[:before])]
        self.transcript.append(f"step {step}")
        async with asyncio.timeout(30):
            outcomes = await asyncio.gather(*works, return_exceptions=True)
        self.transcript += [f"    {outcome}" for outcome in outcomes if outcome is not None]
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        told = [outcome for outcome in outcomes if isinstance(outcome, Told)]
        self.seen = await self.judge.step(told, self.seen)

    async def _works(  # noqa: PLR0911 - one for each kind of command
        self, command: c.Command, earlier: list[Request]
    ) -> list[Awaitable[Told | None]]:
        match command:
            case c.Look():
                return [self._look()]
            case c.Sweep(ahead_seconds=ahead):
                return [self._sweep(ahead)]
            case c.Lapse(what=what, pick=pick):
                row = self._pick(what, pick)
                return [self._lapse(what, row["id"])] if row else []
            case c.Again(pick=pick, altered=altered, node=node):
                if not earlier:
                    return []
                request = earlier[-1 - pick % len(earlier)]
                altered_request = replace(request, owner=f"{request.owner}-not")
                return [self._send(node, altered_request if altered else request, altered=altered)]
            case c.Sent():
                request_ = self._request(command)
                if request_ is None:
                    return []
                self.sent.append(request_)
                if command.abandoned:
                    await self._abandon(request_)
                return [self._send((command.node + n) % c.NODES, request_) for n in range(command.twins)]
        raise AssertionError(command)

    def _pick(self, relation: str, pick: int) -> dict[str, Any] | None:
        """Return a live row if there is one, else one that has ended."""
        rows = self.seen.rows[relation]
        live = [row for row in rows if row["ended_at"] is None]
        chosen = live or rows
        return chosen[-1 - pick % len(chosen)] if chosen else None

    def _request(self, command: c.Sent) -> Request | None:  # noqa: PLR0911 - one for each kind of command
        key = f"key-{len(self.sent)}"
        seen = self.seen.resource["revision"]
        match command:
            case c.Hold(owner=owner, quantity=quantity, behind=behind):
                expected = None if behind is None else max(0, seen - behind)
                body = bodies.NewHold(quantity=quantity, expected_resource_revision=expected)
                return self._on_resource("placeHold", "hold", body, f"owner-{owner}", key)
            case c.Join(owner=owner):
                return self._on_resource("joinWaitlist", "waitlist.join", Nothing(), f"owner-{owner}", key)
            case c.Resize(capacity=capacity):
                size = bodies.NewSize(capacity=capacity)
                return self._on_resource("resizeResource", "resource.resize", size, _ROOT, key)
            case c.ChangePolicy(limit=limit):
                policy = bodies.NewPolicy(per_owner_limit=limit)
                return self._on_resource("changePolicy", "resource.policy", policy, _ROOT, key)
            case c.Close():
                return self._on_resource("closeResource", "resource.close", Nothing(), _ROOT, key)
            case c.Act(what=what, pick=pick, stranger=stranger, behind=behind):
                operation, scope, relation = _ACTS[what]
                if (row := self._pick(relation, pick)) is None:
                    return None
                asks = relation in {"holds", "offers"}
                expected = None if behind is None else max(0, row["revision"] - behind)
                return Request(
                    operation=operation,
                    scope=scope,
                    id=row["id"],
                    body=bodies.Ask(expected_revision=expected) if asks else Nothing(),
                    owner="stranger" if stranger else row["owner_digest"],
                    key=key,
                    row=row,
                )
        raise AssertionError(command)

    def _on_resource(self, operation: str, scope: str, body: Any, owner: str, key: str) -> Request:
        return Request(operation=operation, scope=scope, id=self.resource, body=body, owner=owner, key=key)

    async def _send(self, node: int, request: Request, *, altered: bool = False) -> Told:
        call = Call(
            caller=Caller(tenant=self.tenant, owner_digest=request.owner, admin=request.owner == _ROOT),
            id=request.id,
            body=request.body,
            key=request.key,
            query={},
        )
        try:
            reply = await self.nodes[node][request.operation].handle(call)
        except Refused as refused:
            return Told(request=request, altered=altered, refused=refused.refusal.code)
        except Exception as failure:
            raise AssertionError(f"{request} was neither carried out nor refused: {failure!r}") from failure
        body = reply.body if isinstance(reply.body, str) else reply.body.decode()
        return Told(
            request=request, altered=altered, status=reply.status, body=body, replayed=reply.replayed is True
        )

    async def _abandon(self, request: Request) -> None:
        """Claim the request's key as a worker that dies at once and whose lease is over."""
        payload: list[Any] = [request.id, None if request.operation in _WITHOUT_BODY else request.body]
        if request.operation == "placeHold":
            payload = [request.id, request.body.quantity, request.body.expected_resource_revision]
        scope = Scope(tenant=self.tenant, operation=request.scope, key=request.key)
        mark = idempotency.fingerprint(request.scope, payload, request.owner)
        await self.database.transaction(
            lambda connection: idempotency.acquire(connection, scope, mark, "dead", lease=timedelta(0))
        )

    async def _sweep(self, ahead_seconds: int) -> None:
        async def work(connection: Any) -> None:
            await leadership.fence(connection, self.term)
            at = (
                await resources.clock(connection) + timedelta(seconds=ahead_seconds)
                if ahead_seconds
                else None
            )
            due = Due(resource=self.resource, tenant=self.tenant)
            await expiry.finalize_expired_resource(connection, due, rows=100, term=self.term.number, at=at)

        await self.database.transaction(work)

    async def _lapse(self, relation: str, row: int) -> None:
        async def work(connection: Any) -> None:
            await resources.lock(connection, tenant=self.tenant, resource=self.resource)
            await connection.execute(
                f"UPDATE {relation} SET expires_at = clock_timestamp() WHERE id = $1 AND state = 'ACTIVE'",
                row,
            )

        await self.database.transaction(work)

    async def _look(self) -> None:
        await self.judge.look()
