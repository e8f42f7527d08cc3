"""The node keeps to its own document: schemathesis asks what it allows and what it forbids, of rows that are there.

Requests carry an administrator's token and, where they are valid, a key of their own and mostly an id that exists, so
that they get past the door. Every answer must be one that the document tells of, in its shape, and never a 500.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

EXAMPLES_PER_OPERATION: Final = {GenerationMode.POSITIVE: 16, GenerationMode.NEGATIVE: 18}
CHECKS: Final = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.missing_required_header,
    checks.unsupported_method,
    checks.allow_header_conformance,
]


@dataclass(slots=True)
class Asker:
    """Asks one node what schemathesis makes up, and counts what it was answered."""

    url: str
    token: str
    ids: dict[str, list[int]]  # by kind, and for some actions by kind and action
    answered: dict[str, Counter[int]] = field(default_factory=dict)
    turns: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def ask_everything(self) -> None:
        """Ask of every operation what its document allows and what it forbids; raises at the first wrong answer."""
        schema = schemathesis.openapi.from_url(f"{self.url}/openapi.json")
        for mode in GenerationMode:
            for result in schema.get_all_operations():
                assert isinstance(result, Ok), "the document has an operation that cannot be read"
                self._ask(result.ok(), mode)

    def _ask(self, operation: Any, mode: GenerationMode) -> None:
        told = self.answered.setdefault(operation.label, Counter())

        @settings(
            max_examples=EXAMPLES_PER_OPERATION[mode], derandomize=True, deadline=None, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=mode))
        def probe(case: Any) -> None:
            if mode is GenerationMode.POSITIVE:
                self._let_in(case)
            headers = {"Authorization": f"Bearer {self.token}"}
            told[case.call_and_validate(headers=headers, checks=CHECKS, timeout=20).status_code] += 1

        probe()

    def _let_in(self, case: Any) -> None:
        """Give a valid request a key of its own and, three times of four, the next id of something that is there.

        Two of three ask without conditions, which numbers that are made up would hardly ever meet.
        """
        turn = next(self.turns)
        if "Idempotency-Key" in (case.headers or {}):
            case.headers["Idempotency-Key"] = f"{case.headers['Idempotency-Key'][:200]}-{turn}"
        if "id" in (case.path_parameters or {}):
            _, _, kind, *_, action = case.path.split("/")
            known = self.ids.get(f"{kind}/{action}", self.ids[kind])
            case.path_parameters["id"] = known[turn % len(known)] if turn % 4 else 10**17 + turn
        if isinstance(case.body, dict) and turn % 3:
            for condition in ("expectedResourceRevision", "expectedRevision", "quantity"):
                case.body.pop(condition, None)


async def _furnish(service: Any) -> dict[str, list[int]]:
    """Put rows of every kind there, all of them the administrator's own; return ids by kind, and for some actions."""
    root = service.admin

    async def made(path: str, body: Any = None) -> int:
        answer = await root.post(path, body)
        assert answer.status < 300, answer.body
        return int(answer.json["id"])

    wide, line = await service.resource(900), await service.resource(8)
    held = [await made(f"/api/resources/{wide}/holds") for _ in range(24)]
    reservations = [await made(f"/api/holds/{hold}/confirm") for hold in held[16:]]
    all_of_it = await made(f"/api/resources/{line}/holds", {"quantity": 8})
    entries = [await made(f"/api/resources/{line}/waitlist") for _ in range(14)]
    await root.post(f"/api/holds/{all_of_it}/cancel")
    offers = [row["id"] for row in await service.sql.fetch("SELECT id FROM offers ORDER BY id")]
    return {
        "resources": [wide, line],
        "resources/holds": [wide],
        "resources/waitlist": [line],
        "resources/close": [await service.resource(1) for _ in range(4)],
        "resources/resize": [await service.resource(1) for _ in range(4)],
        "resources/policy": [await service.resource(1)],
        "holds": held,
        "holds/confirm": held[:8],
        "holds/cancel": held[8:16],
        "waitlist": entries,
        "waitlist/leave": entries[8:],
        "offers": offers,
        "offers/accept": offers[:4],
        "offers/decline": offers[4:],
        "reservations": reservations,
    }


@pytest.fixture
async def asker(service: Any) -> Asker:
    root = service.admin
    return Asker(f"http://127.0.0.1:{root.port}", root.token, await _furnish(service))


@pytest.mark.timeout(180)
async def test_the_node_answers_as_its_document_says(asker: Asker, service: Any) -> None:
    await asyncio.to_thread(asker.ask_everything)

    print({label: dict(told) for label, told in asker.answered.items()})  # noqa: T201 - for who asks with -s
    never_succeeded = [
        label for label, told in asker.answered.items() if not any(code < 300 for code in told)
    ]
    assert never_succeeded == []
    broken = await service.sql.fetch(
        "SELECT * FROM resources WHERE NOT (0 <= occupied_count AND occupied_count <= capacity)"
    )
    assert broken == []
