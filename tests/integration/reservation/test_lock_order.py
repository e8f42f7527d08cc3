"""One order of locks everywhere: key, leader's lease, resource, what hangs on it, outbox. Two orders are a deadlock in wait."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from service.database import Database
from service.reservation.sweeper import Sweeper
from service.statements import Statement

ORDER: Final = (
    {"idempotency_records"},
    {"leader_leases"},
    {"resources"},
    {"holds", "offers", "waitlist_entries", "reservations"},
    {"notification_outbox"},
)
RANK: Final = {table: rank for rank, tables in enumerate(ORDER) for table in tables}
WRITES: Final = re.compile(
    r"(?:INSERT INTO|UPDATE) ([a-z_]+)|FROM ([a-z_]+)(?:(?!FROM|;).)*? FOR (?:NO KEY UPDATE|SHARE)", re.DOTALL
)


def locked_tables(text: str) -> list[str]:
    """The tables whose rows a statement locks, in the order in which it names them."""
    found = [match[1] or match[2] for match in WRITES.finditer(text)]
    return [table for table in found if table in RANK]


@dataclass(slots=True)
class Ledger:
    """What each transaction locked, in its order."""

    under_way: dict[int, list[str]] = field(default_factory=dict)  # by connection
    ended: list[list[str]] = field(default_factory=list)
    by_statement: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def ran(self, connection: Any, statement: Statement) -> None:
        tables = locked_tables(statement.text)
        self.by_statement[statement.name] += bool(tables)
        if (locks := self.under_way.get(id(connection))) is not None:
            locks += [table for table in tables if table not in locks]
        elif tables:
            self.ended.append(list(dict.fromkeys(tables)))  # it commits by itself


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Every statement of the service, as it runs."""
    made = Ledger()
    for name in ("row", "rows", "value"):
        run = getattr(Statement, name)

        async def told(statement: Statement, connection: Any, *, _run: Any = run, **given: Any) -> Any:
            made.ran(connection, statement)
            return await _run(statement, connection, **given)

        monkeypatch.setattr(Statement, name, told)
    transaction = Database.transaction

    async def watched(database: Database, work: Any) -> Any:
        async def begun(connection: Any) -> Any:
            made.under_way[id(connection)] = []
            try:
                return await work(connection)
            finally:
                made.ended.append(made.under_way.pop(id(connection)))

        return await transaction(database, begun)

    monkeypatch.setattr(Database, "transaction", watched)
    return made


def test_what_a_statement_locks_is_read_from_its_text() -> None:
    assert locked_tables("SELECT * FROM resources WHERE id = $1 FOR NO KEY UPDATE") == ["resources"]
    assert locked_tables("SELECT * FROM resources WHERE id = $1") == []
    assert locked_tables("UPDATE holds SET x = 1; INSERT INTO offers VALUES (1)") == ["holds", "offers"]


async def test_every_transaction_locks_in_the_one_order(service: Any, ledger: Ledger) -> None:
    alice, bob, root = service.person("alice"), service.person("bob"), service.admin

    async def made(who: Any, path: str, body: Any = None) -> int:
        answer = await who.post(path, body)
        assert answer.status < 300, (path, answer.body)
        return int(answer.json["id"])

    room, limited = await service.resource(1), await service.resource(2, perOwnerLimit=1)
    await made(alice, f"/api/resources/{limited}/holds")
    hold = await made(alice, f"/api/resources/{room}/holds")
    entries = [await made(who, f"/api/resources/{room}/waitlist") for who in (bob, alice, bob, alice, bob)]
    await made(alice, f"/api/holds/{hold}/cancel")

    async def offer(entry: int) -> int:
        found: int = await service.sql.fetchval("SELECT id FROM offers WHERE entry_id = $1", entry)
        return found

    await made(bob, f"/api/offers/{await offer(entries[0])}/decline")
    accepted = await made(alice, f"/api/offers/{await offer(entries[1])}/accept")
    await made(bob, f"/api/waitlist/{entries[4]}/leave")
    await made(alice, f"/api/reservations/{accepted}/cancel")
    await service.sql.execute("UPDATE offers SET expires_at = clock_timestamp() WHERE state = 'ACTIVE'")
    assert len((await Sweeper(service.pool, service.settings, "node-a").run_once()).summaries) == 1
    await made(root, f"/api/resources/{room}/resize", {"capacity": 3})
    confirmed = await made(alice, f"/api/resources/{room}/holds", {"quantity": 2})
    reservation = await made(alice, f"/api/holds/{confirmed}/confirm")
    await made(alice, f"/api/reservations/{reservation}/cancel")
    await made(root, f"/api/resources/{room}/policy", {"holdSeconds": 30})
    await made(root, f"/api/resources/{room}/close")

    wrong = [
        locks for locks in ledger.ended if [RANK[table] for table in locks] != sorted(RANK[t] for t in locks)
    ]
    assert wrong == []
    assert {table for locks in ledger.ended for table in locks} == set(RANK)
    carried_out = {name for name, locks in ledger.by_statement.items() if locks}
    assert carried_out >= {
        "accept", "cancel", "change_policy", "claim", "close", "confirm", "decline", "enqueue", "expire_holds",
        "expire_offers", "fence", "join", "leave", "lock", "promote", "release", "resize", "take", "take_locked",
    }  # fmt: skip
