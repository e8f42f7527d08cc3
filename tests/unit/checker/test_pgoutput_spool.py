"""The spool gives back what was put in, and tells a torn tail from damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.trail.spool import Frame, Spool, SpoolError, frames, torn_bytes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def spooled(tmp_path: Path, recorded: list[Frame]) -> Path:
    path = tmp_path / "trail.bin"
    with Spool(path) as spool:
        for frame in recorded:
            spool.append(*frame)
    return path


def test_frames_come_back_in_order(spooled: Path, recorded: list[Frame]) -> None:
    assert list(frames(spooled)) == recorded
    assert torn_bytes(spooled) == 0


def test_flushed_frames_are_there_before_the_spool_is_closed(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "trail.bin")
    spool.append(1, 2, b"three")
    spool.flush()
    assert list(frames(spool.path)) == [Frame(1, 2, b"three")]
    spool.close()


def test_a_torn_tail_ends_the_spool_quietly(spooled: Path, recorded: list[Frame]) -> None:
    whole = spooled.read_bytes()
    start_of_last = len(whole) - len(recorded[-1].data) - 20
    for cut in range(start_of_last + 1, len(whole)):
        spooled.write_bytes(whole[:cut])
        assert list(frames(spooled)) == recorded[:-1]
        assert torn_bytes(spooled) == cut - start_of_last


def test_a_garbled_last_frame_is_a_torn_tail_too(spooled: Path, recorded: list[Frame]) -> None:
    damaged = bytearray(spooled.read_bytes())
    damaged[-1] ^= 1
    spooled.write_bytes(damaged)
    assert list(frames(spooled)) == recorded[:-1]


def test_damage_with_frames_behind_it_is_an_error_that_says_where(spooled: Path) -> None:
    damaged = bytearray(spooled.read_bytes())
    damaged[8 + 20] ^= 1
    spooled.write_bytes(damaged)
    with pytest.raises(SpoolError, match=r"trail\.bin is damaged at byte 8"):
        list(frames(spooled))


def test_a_damaged_stamp_is_noticed(spooled: Path) -> None:
    damaged = bytearray(spooled.read_bytes())
    damaged[8 + 8] ^= 1
    spooled.write_bytes(damaged)
    with pytest.raises(SpoolError, match="at byte 8"):
        list(frames(spooled))


def test_another_file_is_no_spool(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"PAR1 and so on")
    with pytest.raises(SpoolError, match="other is no spool"):
        list(frames(tmp_path / "other"))


def test_a_spool_is_never_overwritten(spooled: Path) -> None:
    with pytest.raises(FileExistsError):
        Spool(spooled)


def test_a_full_disk_is_the_spools_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path / "trail.bin")

    class Full:
        def write(self, _data: bytes) -> int:
            raise OSError(28, "No space left on device")

    whole = spool._file
    monkeypatch.setattr(spool, "_file", Full())
    with pytest.raises(SpoolError, match="No space left"):
        spool.append(1, 2, b"three")
    whole.close()
