"""Whatever a provider may do: it lands on a notice, and one that meets nobody makes a run inconclusive."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, get_args

import pytest

from chaos.faults import ProviderFault, throughout
from chaos.nemesis import Nemesis
from chaos.providers import ledger
from chaos.providers.behaviour import Behaviour, Does
from checker.verdict import Judgement
from lastseat.errors import ExitCode
from lastseat.rejudging import EXIT_CODES
from tests.integration.chaos.processes.conftest import enqueue
from tests.integration.chaos.processes.played import Undone, broken, judged
from tests.integration.chaos.processes.test_providers_asked import ask
from tests.integration.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    import asyncpg

    from chaos.faults import Reach
    from chaos.nemesis import FaultRecord
    from lastseat.nodes import Deployment

pytestmark = pytest.mark.timeout(120)

FAULTS: Final = {
    "retry": ProviderFault("notification", "retry"),
    "decline": ProviderFault("notification", "decline"),
    "refuse": ProviderFault("notification", "refuse"),
    "late": ProviderFault("notification", "late", by_ms=200),
    "drop_reply": ProviderFault("notification", "drop_reply"),
    "kill_caller": ProviderFault("notification", "kill_caller"),
    "down": ProviderFault("notification", "down"),
}
# What the provider then says of the notice, once or again and again, and what becomes of it.
ENDS: Final = {
    "retry": (["failed", "accepted"], "DELIVERED"),
    "decline": (["declined"], "EXHAUSTED"),
    "refuse": (["failed"], "EXHAUSTED"),
    "late": (["accepted"], "DELIVERED"),
    "drop_reply": (["accepted", "duplicate"], "DELIVERED"),
    "kill_caller": (["accepted", "duplicate"], "DELIVERED"),
    "down": (["accepted"], "DELIVERED"),
}
AWAITING: Final = [does for does, fault in FAULTS.items() if fault.awaits_victim]


def test_every_word_has_a_case() -> None:
    assert set(FAULTS) == set(ENDS) == set(get_args(Does)) - {"accept"}


def answers(service: Deployment, effect: str) -> list[str]:
    entries = ledger.read(service.providers["notification"].ledger)
    return [entry.answer for entry in entries if entry.effect == effect]


async def behave(reach: Reach) -> None:
    await reach.providers["notification"].behave(Behaviour())


def inconclusive(folder: Path, records: list[FaultRecord], since_ns: int) -> str:
    """Say why a run with this fault proves nothing; it must."""
    (record,) = records
    assert (record.landed_ns, record.proof) == (None, None)
    verdict = judged(folder, "provider", records, since_ns)
    assert EXIT_CODES[verdict.judgement] is ExitCode.INCONCLUSIVE
    return "; ".join(verdict.reasons)


@pytest.mark.parametrize("does", FAULTS)
async def test_a_behaviour_lands_on_a_notice(
    reach: Reach, service: Deployment, sql: asyncpg.Connection, does: str, tmp_path: Path
) -> None:
    since_ns, notice = time.monotonic_ns(), f"lands-{does}"
    async with Nemesis([throughout(inject=FAULTS[does])], reach) as nemesis:
        (record,) = nemesis.records
        await enqueue(sql, notice)
        await until(lambda: record.landed_ns, f"the landing of {does}", within_seconds=15)
        if does != "down":
            await until(lambda: answers(service, notice), "the notice's arrival", within_seconds=15)
    assert (record.error, bool(record.healed_ns)) == (None, True)
    assert judged(tmp_path / "run", "provider", nemesis.records, since_ns).judgement is Judgement.VALID

    said, state = ENDS[does]

    async def ended() -> bool:
        return bool(await sql.fetchval("SELECT state FROM notification_outbox") == state)

    await until(ended, f"the notice's end as {state}", within_seconds=20)
    assert list(dict.fromkeys(answers(service, notice))) == said
    assert answers(service, notice).count("accepted") == said.count("accepted")


@pytest.mark.parametrize("does", FAULTS)
async def test_a_behaviour_that_is_undone_makes_the_run_inconclusive(
    reach: Reach, service: Deployment, sql: asyncpg.Connection, does: str, tmp_path: Path
) -> None:
    since_ns, notice = time.monotonic_ns(), f"undone-{does}"

    async def undo(reach: Reach) -> None:
        await behave(reach)
        if does == "down":
            return
        await enqueue(sql, notice)
        await until(lambda: answers(service, notice), "the notice's arrival", within_seconds=15)

    async with broken(reach, Undone(FAULTS[does], undo)) as records:
        pass
    assert "provider: 0 of 1 landed (not proven: " in inconclusive(tmp_path / "run", records, since_ns)
    assert does == "down" or answers(service, notice) == ["accepted"]


@pytest.mark.parametrize("does", AWAITING)
async def test_a_behaviour_that_nobody_meets_makes_the_run_inconclusive(
    reach: Reach, does: str, tmp_path: Path
) -> None:
    since_ns = time.monotonic_ns()
    async with broken(reach, FAULTS[does]) as records:
        pass
    missed = f"not proven: no request has met {FAULTS[does]}"
    assert missed in inconclusive(tmp_path / "run", records, since_ns)


@pytest.mark.parametrize("does", AWAITING)
async def test_an_id_that_was_accepted_before_meets_nothing(
    reach: Reach, service: Deployment, does: str, tmp_path: Path
) -> None:
    since_ns, desk, known = time.monotonic_ns(), service.providers["notification"], f"known-{does}"
    assert (await ask(desk.address, "POST", "/nobody/notices", known))[0] == "200"
    async with Nemesis([throughout(inject=FAULTS[does])], reach) as nemesis:
        assert "duplicate" in (await ask(desk.address, "POST", "/nobody/notices", known))[1]
    missed = f"not proven: no request has met {FAULTS[does]}"
    assert missed in inconclusive(tmp_path / "run", nemesis.records, since_ns)


async def test_a_caller_that_is_not_killed_makes_the_run_inconclusive(
    reach: Reach, service: Deployment, tmp_path: Path
) -> None:
    since_ns, desk = time.monotonic_ns(), service.providers["notification"]
    async with Nemesis([throughout(inject=FAULTS["kill_caller"])], reach) as nemesis:
        assert await ask(desk.address, "POST", "/init/notices", "spared-1") == ("", "")
        await asyncio.wait_for(desk.met(), 10)
    missed = "not proven: init was not killed: no process of the lab is called 'init'"
    assert missed in inconclusive(tmp_path / "run", nemesis.records, since_ns)
