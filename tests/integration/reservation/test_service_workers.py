"""Workers as they run: they send and sweep over real HTTP and real processes, and end when told."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from service.reservation import outbox
from service.reservation.notifier import Notifier, Round
from service.reservation.outbox import Claim, Notice
from service.workers import run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from lastseat.lab import Lab


@dataclass(slots=True)
class Provider:
    """A party that keeps a ledger of effects by Idempotency-Key and answers as it is told to."""

    port: int = 0
    answers: list[str] = field(default_factory=list)  # of the next requests; then accepts
    effects: Counter[str] = field(default_factory=Counter)
    requests: list[tuple[str, bytes]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        key = fields["idempotency-key"]
        self.requests.append((key, await reader.readexactly(int(fields["content-length"]))))
        behaviour = self.answers.pop(0) if self.answers else "accept"
        if behaviour in {"accept", "accept and drop"}:
            known = key in self.effects
            self.effects[key] += 0 if known else 1
            body = b'{"result":"duplicate"}' if known else b'{"result":"accepted"}'
            if behaviour == "accept":
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        else:
            writer.write(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    await server.wait_closed()


@pytest.fixture
def notifier(pool: Any, make_settings: Callable[..., Any], provider: Provider) -> Notifier:
    return Notifier(pool, make_settings(notification_url=f"http://127.0.0.1:{provider.port}/send"))


async def _enqueue(sql: Any, *deliveries: str) -> None:
    notices = [Notice(delivery_id=delivery, kind="offer-created", payload="{}") for delivery in deliveries]
    await outbox.enqueue(sql, "demo", notices, await sql.fetchval("SELECT clock_timestamp()"))


async def _now_due(sql: Any) -> None:
    await sql.execute(
        "UPDATE notification_outbox SET next_attempt_at = clock_timestamp() WHERE state = 'PENDING'"
    )


async def test_a_round_sends_what_is_due_once_under_its_delivery_id(
    notifier: Notifier, provider: Provider, sql: Any
) -> None:
    await _enqueue(sql, "waitlist-1-offered", "waitlist-2-offered")

    assert await notifier.run_once() == Round(delivered=2)
    assert await notifier.run_once() == Round()

    assert provider.effects == {"waitlist-1-offered": 1, "waitlist-2-offered": 1}
    assert [body for _, body in provider.requests] == [b"{}", b"{}"]


async def test_a_failure_is_tried_again_later_and_an_accepted_send_without_an_answer_is_a_duplicate(
    notifier: Notifier, provider: Provider, sql: Any
) -> None:
    provider.answers = ["refuse", "accept and drop"]
    await _enqueue(sql, "waitlist-1-offered")

    assert await notifier.run_once() == Round(failed=1, waiting=1)
    assert await notifier.run_once() == Round(waiting=1)  # it rests
    await _now_due(sql)
    assert await notifier.run_once() == Round(failed=1, waiting=1)
    await _now_due(sql)
    assert await notifier.run_once() == Round(delivered=1)

    assert len(provider.requests) == 3
    assert provider.effects == {"waitlist-1-offered": 1}
    assert await sql.fetchval("SELECT attempt_count FROM notification_outbox") == 3


async def test_a_provider_that_is_down_exhausts_a_notice_and_one_bad_notice_stops_no_other(
    notifier: Notifier, provider: Provider, sql: Any
) -> None:
    await _enqueue(sql, "waitlist-1-offered")
    provider.answers = ["refuse"] * 5
    for _ in range(5):
        await notifier.run_once()
        await _now_due(sql)
    await _enqueue(sql, "waitlist-2-offered")

    assert await notifier.run_once() == Round(delivered=1)
    rows = await sql.fetch("SELECT delivery_id, state FROM notification_outbox ORDER BY id")
    assert [row["state"] for row in rows] == ["EXHAUSTED", "DELIVERED"]
    assert len(provider.requests) == 6


async def test_a_provider_that_answers_byte_by_byte_holds_the_round_up_no_longer_than_its_timeout(
    pool: Any, make_settings: Callable[..., Any], sql: Any
) -> None:
    """A deadline for each read, as http.client has it, is none for the answer: each byte would begin it anew."""

    async def dribble(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 400:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(dribble, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    notifier = Notifier(pool, make_settings(notification_url=url, notification_timeout_ms=300))
    await _enqueue(sql, "waitlist-1-offered")
    async with asyncio.timeout(5):
        assert await notifier.run_once() == Round(failed=1, waiting=1)
    server.close()


@pytest.mark.parametrize(
    ("answer", "taken"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n" + b'{"result":"duplicate"}', "DUPLICATE"),
        (b'HTTP/1.1 200 OK\r\n\r\n{"result":"duplicate"}', "DUPLICATE"),
        (
            b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n{"result":"duplicate"}\r\n0\r\n\r\n',
            "DUPLICATE",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "ACCEPTED"),
        (b"HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n", "DUPLICATE"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{", "RETRYABLE_FAILURE"),
        (b"SMTP", "RETRYABLE_FAILURE"),
        (b"", "RETRYABLE_FAILURE"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"y" * 70_000, "RETRYABLE_FAILURE"),
    ],
)
async def test_an_answer_is_read_however_it_tells_its_end(
    pool: Any, make_settings: Callable[..., Any], answer: bytes, taken: str
) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"{}")
        writer.write(answer)
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/send?to=all"
    claim = Claim(delivery_id="waitlist-1-offered", kind="offer-created", payload="{}", token="t", attempt=1)
    assert await Notifier(pool, make_settings(notification_url=url)).send(claim) == taken
    server.close()


async def test_two_notifiers_share_the_work_and_send_nothing_twice(
    notifier: Notifier, provider: Provider, sql: Any
) -> None:
    await _enqueue(sql, *(f"waitlist-{n}-offered" for n in range(24)))
    other = Notifier(notifier.database, notifier.settings)

    rounds = await asyncio.gather(notifier.run_once(), other.run_once())

    assert sum(done.delivered for done in rounds) == 24
    assert len(provider.requests) == 24


async def test_a_naive_read_without_a_claim_sends_twice(sql: Any) -> None:
    await _enqueue(sql, "waitlist-1-offered")
    naive = "SELECT delivery_id FROM notification_outbox WHERE state = 'PENDING'"
    sent = Counter([await sql.fetchval(naive), await sql.fetchval(naive)])  # two pollers, before either marks
    assert sent == {"waitlist-1-offered": 2}


async def test_a_worker_goes_on_after_a_failed_round_and_ends_when_told() -> None:
    stopping, rounds = asyncio.Event(), []

    class Failing:
        stopped = False

        async def run_once(self) -> str:
            rounds.append(1)
            if len(rounds) == 3:
                stopping.set()
            raise RuntimeError("the first rounds fail")

        async def stop(self) -> None:
            self.stopped = True

    worker = Failing()
    await asyncio.wait_for(run(worker, tick_seconds=0.01, stopping=stopping), 5)
    assert len(rounds) == 3
    assert worker.stopped


async def test_worker_processes_sweep_send_and_end_with_code_0(
    lab: Lab, service: Any, provider: Provider, until: Callable[..., Awaitable[None]]
) -> None:
    environment = {
        "RESERVATION_DATABASE_URL": service.settings.database_url,
        "RESERVATION_TOKEN_SECRET": "t" * 32,
        "RESERVATION_OWNER_SECRET": "o" * 32,
        "RESERVATION_NOTIFICATION_URL": f"http://127.0.0.1:{provider.port}/send",
        "RESERVATION_SWEEP_TICK_SECONDS": "0.1",
        "RESERVATION_NOTIFICATION_TICK_SECONDS": "0.1",
    }
    room = await service.resource(1, holdSeconds=0.2)
    await service.person("alice").post(f"/api/resources/{room}/holds", {})
    entry = (await service.person("bob").post(f"/api/resources/{room}/waitlist")).json["id"]
    started = [
        await lab.spawn(
            f"{name}-{place}-{room}", [sys.executable, "-m", "service.workers", name], env=environment
        )
        for place, name in enumerate(("expiry", "expiry", "notifier"))
    ]

    await until(lambda: provider.effects[f"waitlist-{entry}-offered"] == 1, "bob's notice", within_seconds=20)
    assert (await service.row("waitlist_entries", entry))["state"] == "OFFERED"
    for child in started:
        # One of the two sweepers is enough for the notice; the other may still be starting, and a SIGTERM then just ends it.
        await until(
            lambda child=child: "worker started" in child.log.read_text(), f"the start of {child.role}"
        )
        assert await child.terminate() == 0, child.log.read_text()
    leases = await service.sql.fetch("SELECT expires_at <= clock_timestamp() AS over FROM leader_leases")
    assert [lease["over"] for lease in leases] == [True]  # given back, for the next leader
