"""Every refusal of the table is one that can be had, with its status and its flags kept."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from service.errors import REFUSALS
from tests.integration.reservation.digest import digest
from tests.integration.reservation.refusals import hindrances, requests, rules
from tests.integration.reservation.refusals.stage import SCENES, Scene

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

SCRIPTS = (requests, rules, hindrances)  # each registers its scenes
# A key's record may stand without an answer: it says that somebody tried, and nothing of what came of it.
ABOUT_KEYS = {"idempotency_records", "idempotency_answers"}


@pytest.fixture
async def scene(
    service: Any,
    start: Callable[..., Any],
    until: Callable[..., Any],
    sessions: Any,
    *,
    monkeypatch: pytest.MonkeyPatch,
    silent_port: int,
) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        room = await service.resource(1)
        made = Scene(service, start, until, sessions, stack, monkeypatch, silent_port, room)
        yield made
    await asyncio.gather(*made.pending)


def test_every_refusal_has_a_scene_that_provokes_it() -> None:
    assert set(SCENES) == set(REFUSALS)
    assert {provoke.__module__ for provoke in SCENES.values()} == {script.__name__ for script in SCRIPTS}


@pytest.mark.parametrize("code", REFUSALS)
async def test_a_refusal_is_what_the_table_says_of_it(code: str, scene: Scene) -> None:
    refusal = REFUSALS[code]
    shot = await SCENES[code](scene)
    before = await digest(scene.service.sql)

    answer = await shot.fire()

    assert (answer.status, answer.json["code"]) == (refusal.status, code)
    assert answer.json["message"] == refusal.sentence
    assert set(answer.json) <= {"code", "message", "retryAfterMs"}
    after = await digest(scene.service.sql)
    assert {name for name in after if after[name] != before[name]} <= ABOUT_KEYS
    assert (after["idempotency_answers"] != before["idempotency_answers"]) == refusal.final
    if refusal.final:
        again = await shot.fire()
        assert (again.body, again.headers["idempotency-replayed"]) == (answer.body, "true")


def test_what_is_final_is_definite() -> None:
    assert [refusal.code for refusal in REFUSALS.values() if refusal.final and not refusal.definite] == []
