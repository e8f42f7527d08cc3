"""Evidence that is not as the run left it is refused, whatever a reader of Parquet would make of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.evidence import EvidenceError
from checker.judge import check
from checker.seal import seal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.run import Run

JUDGED = (
    "operations.parquet",
    "snapshots.parquet",
    "base/holds.parquet",
    "changes/holds.parquet",
    "state/holds.parquet",
    "scenario.json",
    "trail.json",
)


@pytest.fixture
def sealed(run: Run) -> Path:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    folder = run.write()
    seal(folder)
    return folder


def test_what_nobody_touched_is_judged(sealed: Path) -> None:
    assert check(sealed).operations == 1


@pytest.mark.parametrize("name", JUDGED)
def test_one_bit_is_enough_to_be_damaged(sealed: Path, name: str) -> None:
    content = bytearray((sealed / name).read_bytes())
    content[len(content) // 2] ^= 1
    (sealed / name).write_bytes(content)
    with pytest.raises(EvidenceError, match=f"{name} is damaged"):
        check(sealed)


@pytest.mark.parametrize("name", JUDGED)
def test_a_file_that_is_gone_is_named(sealed: Path, name: str) -> None:
    (sealed / name).unlink()
    with pytest.raises(EvidenceError, match=f"{name} is gone"):
        check(sealed)


def test_a_file_that_came_later_is_named(sealed: Path) -> None:
    (sealed / "changes" / "holds-2.parquet").write_bytes((sealed / "changes" / "holds.parquet").read_bytes())
    with pytest.raises(EvidenceError, match=r"changes/holds-2\.parquet was added"):
        check(sealed)


def test_a_seal_that_cannot_be_read_is_named(sealed: Path) -> None:
    (sealed / "seal.json").write_text("{")
    with pytest.raises(EvidenceError, match=r"seal\.json cannot be read"):
        check(sealed)


def test_a_folder_without_a_seal_is_taken_as_it_is(sealed: Path) -> None:
    (sealed / "seal.json").unlink()
    assert check(sealed).operations == 1
