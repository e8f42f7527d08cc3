"""A verdict is computed again from the folder, whatever has become of the one that was written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement, Verdict
from lastseat.rejudging import _agreement, write_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERDICT = Verdict(
    run="r",
    scenario="s",
    story="",
    profile="smoke",
    seed=1,
    target="t",
    command="",
    judgement=Judgement.VALID,
    reasons=(),
    findings=(),
    premises=(),
    operations=0,
    changes=0,
)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _rubbish(path: Path) -> None:
    path.write_text("{")


def test_the_same_verdict_agrees(tmp_path: Path) -> None:
    write_verdict(tmp_path, VERDICT)
    assert "agrees" in _agreement(tmp_path, VERDICT)


@pytest.mark.parametrize("spoil", [_rubbish, _loop, lambda path: path.mkdir()])
def test_a_written_verdict_that_cannot_be_read_is_only_not_compared(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path / "verdict.json")
    assert "cannot be read, so nothing was compared" in _agreement(tmp_path, VERDICT)
