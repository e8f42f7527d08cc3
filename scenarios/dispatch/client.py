"""The lean client: words a request, journals it, sends it once, judges the answer and journals that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import msgspec
from gevent import get_hub, getcurrent

from scenarios.control import Tally
from scenarios.dispatch.connection import Connection, NotConnected
from scenarios.dispatch.exchange import Exchange
from scenarios.habit import Answer
from scenarios.journal import NOTHING, Failure, Journal, Outcome, digest
from scenarios.targets.outcome import Classifier
from scenarios.targets.target import Actor
from scenarios.targets.wording import Request, Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scenarios.plan import LoadPlan
    from scenarios.targets.target import Value

    Record = Callable[[str, Exchange, Outcome], None]

_SHOWN_BYTES = 200
_SECOND = 1_000_000_000
_object = msgspec.json.Decoder(dict[str, Any])


class Unclassified(Exception):  # noqa: N818 — the sentence is the message
    """No rule of the target knows an answer: the adapter or the service is wrong, and the run must stop."""


class Prepared(msgspec.Struct, frozen=True, gc=False):
    """A request worded for one node, with all that its invocation says."""

    action: str
    node: int
    actor: Actor
    subject: str
    key: str
    request: Request
    arrival: int
    race: int = NOTHING
    attempt: int = 1


class Client:
    """Everything one load process needs to act: wordings, rules, connections, journal and tally."""

    def __init__(self, plan: LoadPlan, journal: Journal, record: Record) -> None:
        """Compile the plan's actions for each of its nodes; raises TargetError."""
        self._plan = plan
        self._journal = journal
        self._record = record
        self._wordings = {
            name: tuple(Wording(action, node) for node in plan.nodes) for name, action in plan.actions.items()
        }
        self._warm = tuple(Wording(plan.warm, node).word({}).wire for node in plan.nodes)
        self._rules = {name: Classifier(action.rules) for name, action in plan.actions.items()}
        self._kinds = {name: journal.header.kinds.index(action.kind) for name, action in plan.actions.items()}
        self._tenants = {tenant: number for number, tenant in enumerate(journal.header.tenants)}
        self._idle: tuple[list[Connection], ...] = tuple([] for _ in plan.nodes)
        self._deadline_ns = int(plan.deadline_seconds * _SECOND)
        self._headers = (
            _header(action.replay_header for action in plan.actions.values()),
            _header(action.admission_header for action in plan.actions.values()),
        )
        self._admissions = {name.encode(): place for place, name in enumerate(journal.header.admissions, 1)}
        self._ended = [0, 0, 0, 0]
        self.arrivals = 0
        self.dropped = 0
        self.through = 0

    @property
    def tally(self) -> Tally:
        """Return how many operations have ended, and how, and how many arrivals are through."""
        _, ok, fail, info = self._ended
        return Tally(
            done=ok + fail + info, ok=ok, fail=fail, info=info, dropped=self.dropped, through=self.through
        )

    def prepare(
        self,
        action: str,
        *,
        node: int,
        actor: Actor,
        values: Mapping[str, Value],
        key: str,
        arrival: int,
        race: int = NOTHING,
        attempt: int = 1,
    ) -> Prepared:
        """Word a request; raises TargetError where a slot has no value."""
        filled = {**actor.values, **values, "key": key}
        return Prepared(
            action=action,
            node=node,
            actor=actor,
            subject=str(filled.get(self._plan.actions[action].subject, "")),
            key=key,
            request=self._wordings[action][node].word(filled),
            arrival=arrival,
            race=race,
            attempt=attempt,
        )

    def connect(self, node: int, deadline_ns: int) -> Connection:
        """Return an idle or a new connection; raises NotConnected."""
        idle = self._idle[node]
        while idle:
            connection = idle.pop()
            if not connection.dead:
                return connection
        remaining = max((deadline_ns - time.monotonic_ns()) / _SECOND, 0.0)
        return Connection(self._plan.nodes[node], headers=self._headers, connect_seconds=remaining)

    def release(self, node: int, connection: Connection) -> None:
        """Keep a connection for the next who needs one."""
        if not connection.dead:
            self._idle[node].append(connection)

    def warmed(self, node: int) -> Connection:
        """Return a connection that has had an answer: behind a proxy a mere connect proves nothing; raises NotConnected."""
        deadline_ns = time.monotonic_ns() + self._deadline_ns
        connection = self.connect(node, deadline_ns)
        if not connection.answered:
            exchange = Exchange(self._warm[node], 0, getcurrent().switch)
            connection.launch(exchange, _unstamped)
            connection.arm(deadline_ns)
            get_hub().switch()
            if exchange.failure is not Failure.NONE or connection.dead:
                raise NotConnected(
                    exchange.failure, f"{connection.node.label} does not answer a warming request"
                )
        return connection

    def invoke(self, prepared: Prepared, intended_ns: int, on_done: Callable[[], Any]) -> Exchange:
        """Journal the invocation; nothing has left yet. Raises JournalFull and JournalTextTooLong."""
        request = prepared.request
        slot = self._journal.invoke(
            kind=self._kinds[prepared.action],
            node=prepared.node,
            tenant=self._tenants[prepared.actor.tenant],
            attempt=prepared.attempt,
            arrival=prepared.arrival,
            race=prepared.race,
            quantity=self._plan.actions[prepared.action].quantity,
            intended_ns=intended_ns,
            key=prepared.key.encode(),
            owner=prepared.actor.owner.encode(),
            subject=prepared.subject.encode(),
            request_digest=digest(request.line, b"\0", request.body),
        )
        return Exchange(request.wire, slot, on_done)

    def launch(self, connection: Connection, exchange: Exchange) -> None:
        """Let the request leave, without a yield."""
        connection.launch(exchange, self._journal.sending)

    def arm(self, connection: Connection, exchange: Exchange) -> None:
        """Give the request that left its one deadline."""
        connection.arm(exchange.sent_ns + self._deadline_ns)

    def exchange(self, prepared: Prepared, intended_ns: int) -> Answer:
        """Send the request once and wait for its end; raises Unclassified, JournalFull."""
        exchange = self.invoke(prepared, intended_ns, getcurrent().switch)
        deadline_ns = time.monotonic_ns() + self._deadline_ns
        try:
            connection = self.connect(prepared.node, deadline_ns)
        except NotConnected as reason:
            exchange.fall(reason.failure, reason.at_ns)
            return self.settle(prepared, exchange)
        connection.launch(exchange, self._journal.sending)
        connection.arm(deadline_ns)
        get_hub().switch()
        self.release(prepared.node, connection)
        return self.settle(prepared, exchange)

    def settle(self, prepared: Prepared, exchange: Exchange) -> Answer:
        """Judge how an exchange ended, journal it and tell Locust; raises Unclassified after journaling it as unknown."""
        action = self._plan.actions[prepared.action]
        document = _document(exchange.body)
        code = _text(document.get(action.code)) if action.code and exchange.status else None
        outcome = self._judge(prepared.action, exchange, code)
        failure = Failure.UNCLASSIFIED if outcome is None else exchange.failure
        created = _text(document.get(action.created)) if action.created and outcome is Outcome.OK else None
        answer = Answer(
            outcome=outcome or Outcome.INFO,
            failure=failure,
            status=exchange.status,
            # What is shown may have a code of its own, which is no refusal's.
            code=None if outcome is Outcome.OK else code,
            created=created,
            replayed=None if exchange.replayed is None else exchange.replayed == b"true",
            document=document,
        )
        self._complete(exchange, answer)
        self._record(action.kind, exchange, answer.outcome)
        if outcome is None:
            shown = exchange.body[:_SHOWN_BYTES].decode(errors="replace")
            raise Unclassified(f"no rule knows the answer {exchange.status} to {prepared.action}: {shown}")
        return answer

    def _judge(self, action: str, exchange: Exchange, code: str | None) -> Outcome | None:
        if exchange.failure is Failure.NONE:
            return self._rules[action].judge(exchange.status, code)
        return Outcome.INFO if exchange.sent_ns else Outcome.FAIL

    def _complete(self, exchange: Exchange, answer: Answer) -> None:
        self._journal.complete(
            exchange.slot,
            outcome=answer.outcome,
            failure=answer.failure,
            replayed=answer.replayed,
            admission=self._admissions.get(exchange.admission or b"", 0),
            status=answer.status,
            done_ns=exchange.done_ns,
            code=(answer.code or "").encode(),
            created=(answer.created or "").encode(),
            body_digest=digest(exchange.body),
        )
        self._ended[answer.outcome] += 1


def _header(names: Iterable[str | None]) -> bytes:
    """Return the one name that an action has for a header; empty without any."""
    return next((name.lower().encode() for name in names if name), b"")


def _document(body: bytes) -> Mapping[str, object]:
    if not body.startswith(b"{"):
        return {}
    try:
        return _object.decode(body)
    except msgspec.DecodeError:
        return {}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _unstamped(_slot: int, _sent_ns: int) -> None:
    """Stand in for the journal's stamp: a warming request is no operation."""
