"""A harness that finds nothing proves nothing: each of these planted bugs is found by the same examples and rules."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from chaos.mutants import oversell_read_write
from service.reservation import (
    claims,
    handover,
    holds,
    idempotency,
    outbox,
    resources,
    rules,
    waitlist,
)
from tests.integration.reservation.stateful.commands import Act, Example, examples
from tests.integration.reservation.stateful.stage import open_stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.settings import Settings

pytestmark = pytest.mark.proof

EXAMPLES_MAX: Final = 300
TRIES: Final = 3  # what runs at the same time need not meet each time
Plant = pytest.MonkeyPatch


def _statement(plant: Plant, statements: dict[str, Any], name: str, old: str, new: str) -> None:
    """Change the text of one of the service's statements."""
    statement = statements[name]
    assert old in statement.text, f"{name} no longer says {old!r}"
    plant.setitem(statements, name, replace(statement, text=statement.text.replace(old, new)))


async def _nothing(*_: Any, **__: Any) -> int:
    return 0


async def _release_only(connection: Any, room: Any, seats: int, _: Any) -> int:
    await handover.release(connection, room, seats)
    return 0


def _stale_worker_counts(plant: Plant) -> None:
    _statement(plant, idempotency.SQL, "stand", "owner_token = $2", "$2::text IS NOT NULL")
    finalize = idempotency.finalize

    async def regardless(*given: Any) -> bool:
        await finalize(*given)
        return True

    plant.setattr(idempotency, "finalize", regardless)


def _whoever(hold: Any, action: Any, *, policy_version: int) -> Any:
    return HOLD_REFUSAL(
        hold, replace(action, owner_digest=hold["owner_digest"]), policy_version=policy_version
    )


HOLD_REFUSAL: Final = rules.hold_refusal
LOCK: Final = "FOR NO KEY UPDATE"

BUGS: dict[str, Callable[[Plant], None]] = {
    "the hold reads, decides and writes": lambda p: p.setattr(holds, "take", oversell_read_write.take),
    "a release skips the decrement": lambda p: p.setattr(handover, "release", _nothing),
    "the last who joined is promoted first": lambda p: _statement(
        p, waitlist.SQL, "promote", "ORDER BY seq LIMIT", "ORDER BY seq DESC LIMIT"
    ),
    "the resource is not locked": lambda p: _statement(p, resources.SQL, "lock", LOCK, ""),
    "the plain hold does not lock": lambda p: _statement(p, holds.SQL, "take", f"{LOCK} OF r", ""),
    "a freed seat is released past the line": lambda p: p.setattr(
        handover, "promote_or_release", _release_only
    ),
    "new seats pass the line by": lambda p: p.setattr(handover, "promote", _nothing),
    "an offer is not announced": lambda p: p.setattr(outbox, "enqueue", _nothing),
    "a release leaves the revision": lambda p: _statement(
        p, resources.SQL, "release", ", revision = revision + 1", ""
    ),
    "a stale worker's work counts": _stale_worker_counts,
    "the expected revision is not compared": lambda p: _statement(
        p, holds.SQL, "take", "WHEN revision <>", "WHEN false AND revision <>"
    ),
    "anybody may end a hold": lambda p: p.setattr(rules, "hold_refusal", _whoever),
    "the limit is not counted": lambda p: p.setattr(claims, "within_limit", _nothing),
    "closing leaves the line standing": lambda p: _statement(
        p, resources.SQL, "close", "AND state = 'WAITING'", "AND false"
    ),
    "a seat whose claim has ended stays counted": lambda p: p.setattr(
        handover, "promote_or_release", _nothing
    ),
    "resizing forgets whom it promoted": lambda p: _statement(
        p, resources.SQL, "resize", "occupied_count + $2", "occupied_count + 0 * $2"
    ),
}


def _has_a_stranger(example: Example) -> bool:
    commands = itertools.chain.from_iterable(example.steps)
    return any(isinstance(command, Act) and command.stranger for command in commands)


# What is seldom drawn and yet must happen for a bug to show: examples that have it come first.
MUST_HAPPEN: Final[dict[str, Callable[[Example], bool]]] = {
    "anybody may end a hold": _has_a_stranger,
    "the limit is not counted": lambda example: example.limit is not None,
}


@functools.cache
def _drawn() -> list[Example]:
    """Return the same examples each time."""
    drawn: list[Example] = []

    @settings(
        max_examples=EXAMPLES_MAX, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(examples())
    def collect(example: Example) -> None:
        drawn.append(example)

    collect()
    return drawn


@pytest.mark.parametrize("bug", BUGS)
async def test_a_planted_bug_is_found(
    bug: str, make_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    BUGS[bug](monkeypatch)
    must_happen = MUST_HAPPEN.get(bug, lambda _: True)
    ordered = sorted(_drawn(), key=must_happen, reverse=True)
    async with open_stage(make_settings(pool_connections_max=6)) as stage:
        for tried, example in enumerate(ordered * TRIES, 1):
            try:
                await stage.play(example)
            except (
                AssertionError
            ) as found:  # judged, stopped by the schema, or failed in a way that is no refusal
                print(f"{bug}: found by example {tried}: {type(found).__name__} {str(found)[:200]}")  # noqa: T201 - for -s
                return
    pytest.fail(f"{EXAMPLES_MAX} examples, {TRIES} times each, did not show that {bug}")
