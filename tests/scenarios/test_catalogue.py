"""Every scenario of the catalogue, played once against the healthy service in one lab, as a user types it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from checker.verdict import Judgement
from scenarios import registry

if TYPE_CHECKING:
    Run = Any  # the fixture's class, in conftest.py

NAMES = tuple(name for name in registry.names() if name != "last_seat_race")
WHOLE_SECONDS = 3_600

pytestmark = [pytest.mark.catalogue, pytest.mark.timeout(WHOLE_SECONDS)]


@pytest.mark.parametrize("name", NAMES)
def test_the_healthy_service_passes_and_the_run_meant_something(name: str, catalogue: dict[str, Run]) -> None:
    verdict = catalogue[name].verdict
    bad = [finding for finding in verdict.findings if finding.judgement is not Judgement.VALID]
    assert (verdict.judgement, verdict.missed, bad) == (Judgement.VALID, (), [])
    assert {finding.invariant for finding in verdict.findings} == set(registry.find(name).invariants)
    assert all(finding.looked_at > 0 for finding in verdict.findings)


@pytest.mark.parametrize("name", NAMES)
def test_each_run_has_a_folder_a_database_and_logs_of_its_own(name: str, catalogue: dict[str, Run]) -> None:
    folder = catalogue[name].folder
    logs = {path.name for path in (folder / "logs").iterdir()}
    assert {"node-a.log", "node-b.log", "load-0.log"} <= logs
    scenario = registry.find(name)
    workers = {f"worker-{kind}-{n + 1}.log" for kind, many in scenario.workers.items() for n in range(many)}
    assert {each for each in logs if each.startswith("worker-")} == workers
    others = [other for other in NAMES if other != name]
    assert not any(
        other in path.read_text(errors="replace")
        for path in folder.glob("logs/node-*.log")
        for other in others
    )
    made = pq.read_table(folder / "state" / "resources.parquet")
    assert made.num_rows == scenario.sale.resources, (
        "a fresh database holds this run's resources and no others"
    )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_owed_when_a_run_has_settled(name: str, catalogue: dict[str, Run]) -> None:
    left = """
        SELECT coalesce(sum(last), -1) FROM (
            SELECT arg_max(value, mono_ns) AS last FROM {samples} WHERE source = 'unsettled' GROUP BY metric
        )
    """
    assert catalogue[name].one(left) == 0


@pytest.mark.parametrize("name", [name for name in NAMES if registry.find(name).faults])
def test_every_fault_was_seen_to_land_and_was_healed(name: str, catalogue: dict[str, Run]) -> None:
    run = catalogue[name]
    faults = len(registry.find(name).faults)
    assert run.one("SELECT count(*) FROM {faults}") == faults
    assert (
        run.one("SELECT count(*) FROM {faults} WHERE landed_ns <= healed_ns AND proof IS NOT NULL") == faults
    )
