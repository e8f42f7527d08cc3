"""What must be true of a resource at every commit, and of every answer, whoever did what at the same time."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from service import statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    import asyncpg

    from tests.integration.reservation.stateful.said import Request, Told

HERE: Final = Path(__file__).parent
WITNESS: Final = (HERE / "witness.sql").read_text()
INVARIANTS: Final = statements.parse((HERE / "invariants.sql").read_text())
RELATIONS: Final = ("holds", "waitlist_entries", "offers", "reservations")

# One statement, and so one snapshot: what is broken, what there is, and how the resource came to be as it is.
_BROKEN: Final = " UNION ALL ".join(
    f"SELECT '{rule.name}' AS rule, row_to_json(broken)::text AS found FROM ({rule.text}) AS broken"
    for rule in INVARIANTS
)
_ROWS: Final = ", ".join(
    f"'{name}', (SELECT coalesce(json_agg(x ORDER BY id), '[]') FROM {name} AS x WHERE resource_id = $1)"
    for name in RELATIONS
)
LOOK: Final = f"""
SELECT (SELECT coalesce(json_agg(b), '[]') FROM ({_BROKEN}) AS b)::text AS broken,
       json_build_object({_ROWS})::text AS rows,
       (SELECT row_to_json(r) FROM resources AS r WHERE id = $1)::text AS resource,
       (SELECT coalesce(json_agg(json_build_object('at', w.id, 'resource', w.became) ORDER BY w.id), '[]')
        FROM witnessed AS w WHERE w.resource = $1 AND w.relation = 'resources')::text AS past
"""
_ANSWERS: Final = """
SELECT r.operation, r.key, a.status, a.body FROM idempotency_records AS r
JOIN idempotency_answers AS a ON a.record_id = r.id WHERE r.tenant = $1
"""
_OF_A_KEY: Final = {"IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_FINGERPRINT_CONFLICT"}
_ENDED: Final = {"HOLD_NOT_ACTIVE", "OFFER_NOT_ACTIVE", "ENTRY_NOT_WAITING", "RESERVATION_NOT_CONFIRMED"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One snapshot: the resource, its claims, and every state that the resource has been in."""

    resource: dict[str, Any]
    rows: dict[str, list[dict[str, Any]]]
    past: list[dict[str, Any]]


@dataclass(slots=True)
class Judge:
    """Looks at one resource through a session of its own, and remembers what was answered."""

    sql: asyncpg.Connection
    resource: int
    tenant: str
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # a session does one thing at a time
    answers: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    carried_out: set[tuple[str, str]] = field(default_factory=set)

    async def look(self) -> Seen:
        """Judge every invariant in one snapshot and return what was seen."""
        async with self.turn:
            row = await self.sql.fetchrow(LOOK, self.resource)
        assert row["broken"] == "[]", row["broken"]
        return Seen(
            resource=json.loads(row["resource"]), rows=json.loads(row["rows"]), past=json.loads(row["past"])
        )

    async def step(self, told: Iterable[Told], before: Seen) -> Seen:
        """Judge what there is after a step and what each attempt in it was told."""
        now = await self.look()
        last = before.past[-1]["at"]
        moments = [state["resource"] for state in now.past if state["at"] >= last]
        for one in told:
            self._judge_key(one)
            if not one.altered and one.code not in _OF_A_KEY and not one.replayed:
                _judge_answer(one, moments, now)
        return now

    async def compare_answers(self) -> None:
        """Judge that what is stored is what was told, byte for byte."""
        for row in await self.sql.fetch(_ANSWERS, self.tenant):
            key = (row["operation"], row["key"])
            assert self.answers.get(key) in {None, (row["status"], row["body"])}, f"{key} was told otherwise"
        stored = {(row["operation"], row["key"]) for row in await self.sql.fetch(_ANSWERS, self.tenant)}
        assert set(self.answers) <= stored, f"answered, but not stored: {set(self.answers) - stored}"

    def _judge_key(self, told: Told) -> None:
        key = (told.request.scope, told.request.key)
        if told.altered:
            assert told.code == "IDEMPOTENCY_FINGERPRINT_CONFLICT", f"another's key was taken: {told}"
            return
        if told.refused is not None:
            assert told.refused == "IDEMPOTENCY_IN_PROGRESS", f"a refusal that nothing here explains: {told}"
            return
        answer = (told.status, told.body)
        assert self.answers.setdefault(key, answer) == answer, f"told otherwise before: {told}"
        if not told.replayed:
            assert key not in self.carried_out, f"carried out twice: {told}"
            self.carried_out.add(key)


def _judge_answer(told: Told, moments: list[dict[str, Any]], now: Seen) -> None:
    """Judge one answer by the states that the resource was in during its step."""
    request, code = told.request, told.code
    mine = request.row is None or request.row["owner_digest"] == request.owner
    assert mine == (code != "OWNER_MISMATCH"), f"whose row is it? {told}"
    if code is None:
        _judge_success(told)
        return
    if not mine:
        return
    if code in _ENDED:
        ended = [row for rows in now.rows.values() for row in rows if _is(row, request)]
        assert all(row["state"] not in {"ACTIVE", "WAITING"} for row in ended), f"it had not ended: {told}"
        return
    assert any(_true_of(code, request, moment) for moment in moments), f"was never true: {told}, {moments}"


def _judge_success(told: Told) -> None:
    request, answer = told.request, json.loads(told.body)
    if request.operation == "placeHold":
        expected = request.body.expected_resource_revision
        assert expected in {None, answer["resourceRevision"] - 1}, f"another revision was expected: {told}"
        assert answer["quantity"] == request.body.quantity, f"another quantity was asked for: {told}"
    if (expected := getattr(request.body, "expected_revision", None)) is not None and request.row is not None:
        assert expected == request.row["revision"], f"another revision was expected: {told}"


def _is(row: dict[str, Any], request: Request) -> bool:
    """Whether a row is the one that the request is done to; ids of two relations may be equal, digests tell them."""
    return request.row is not None and all(
        row.get(name) == request.row.get(name) for name in ("id", "created_at", "owner_digest", "expires_at")
    )


def _true_of(code: str, request: Request, room: dict[str, Any]) -> bool:  # noqa: PLR0911 - one for each refusal
    """Whether the refusal was right in that state of the resource."""
    free = room["capacity"] - room["occupied_count"]
    match code:
        case "CAPACITY_EXHAUSTED":
            return bool(free < request.body.quantity)
        case "SEATS_AVAILABLE":
            return bool(free > 0)
        case "RESOURCE_CLOSED":
            return bool(room["state"] == "CLOSED")
        case "RESOURCE_REVISION_CONFLICT":
            return bool(room["revision"] != request.body.expected_resource_revision)
        case "CAPACITY_BELOW_OCCUPIED":
            return bool(room["occupied_count"] > request.body.capacity)
        case "OWNER_LIMIT_REACHED":
            return room["per_owner_limit"] is not None
        case "POLICY_VERSION_MISMATCH":
            return request.row is not None and bool(room["policy_version"] != request.row["policy_version"])
        case "REVISION_CONFLICT":
            return request.row is not None and request.body.expected_revision != request.row["revision"]
        case "HOLD_EXPIRED" | "OFFER_EXPIRED":
            return True  # the invariants judge by the deadline
    return False
