"""A planted bug under a fault that the user asks for: a slow database widens the window in which it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

SLOW = "latency:pg=50ms"
"""As much as can be told from a round trip on a busy machine; twice that shows no more, and takes most of a minute."""

pytestmark = [pytest.mark.proof, pytest.mark.timeout(240)]


def test_a_slow_database_widens_the_window_and_the_fault_is_proven_to_have_landed(
    typed: Callable[..., Any],
) -> None:
    ran = typed("run", "last_seat_race", "--mutant", "oversell-read-write", "--fault", SLOW)
    assert ran.code == 1, ran.said
    (landed,) = (premise for premise in ran.verdict.premises if premise.name == "landed")
    assert landed.holds, landed
    faults = pq.read_table(ran.folder / "faults.parquet").to_pylist()
    assert [fault["fault"] for fault in faults] == [SLOW]
    assert faults[0]["healed_ns"] > faults[0]["landed_ns"] > 0
