"""What a killed process could not clear away is cleared away by the next one, and nothing that is in use."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from checker.errors import NoRoomError
from checker.judge import check
from checker.spill import LOCK, PREFIX, spill

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

_KILLED = """
import os
from pathlib import Path
from checker.spill import spill
with spill() as folder:
    Path(folder, "spilled").write_bytes(bytes(1_000))
    print(folder, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_goes_with_whoever_used_it() -> None:
    with spill() as folder:
        assert [path.name for path in Path(folder).iterdir()] == [LOCK]
    assert not Path(folder).exists()


def test_what_a_killed_process_left_is_removed_by_the_next(room: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"TMPDIR": str(room)},
        cwd=Path(__file__).parents[2],
    )
    left = Path(ended.stdout.strip())
    assert left.parent == room
    assert (left / "spilled").is_file()
    with spill():
        assert not left.exists()


def test_what_is_in_use_stays(room: Path) -> None:
    with spill() as first, spill() as second:
        assert Path(first).is_dir()
        assert Path(second).is_dir()
    used = room / f"{PREFIX}other"
    used.mkdir()
    with (used / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with spill():
            assert used.is_dir()


def test_what_is_just_being_made_stays(room: Path) -> None:
    (room / f"{PREFIX}new").mkdir()
    with spill():
        assert (room / f"{PREFIX}new").is_dir()


def test_where_there_is_no_room_for_it_that_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    run.resource("r", capacity=1)
    folder = run.write()
    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(NoRoomError, match="No space left on device"):
        check(folder)
