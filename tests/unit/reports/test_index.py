"""The index shows every run there is, and the ones that are not whole as what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

import reports
from checker.verdict import Judgement
from reports.index import entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict


def _run(root: Path, name: str, verdict: Verdict | None, *, report: bool = True) -> Path:
    folder = root / "last_seat_race" / name
    folder.mkdir(parents=True)
    if verdict is not None:
        (folder / "verdict.json").write_bytes(msgspec.json.encode(verdict))
    if report:
        (folder / "report.html").write_text("<p>")
    return folder


def test_every_run_is_listed_newest_first_with_a_link(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    for minute, judgement in enumerate(Judgement):
        _run(tmp_path, f"2026-05-04T12-3{minute}-00Z", make_verdict(tmp_path, judgement))
    text = reports.write_index(tmp_path).read_text()
    links = [f'href="last_seat_race/2026-05-04T12-3{minute}-00Z/report.html">' for minute in (2, 1, 0)]
    places = [text.index(f"<a {link}") for link in links]
    assert places == sorted(places)
    assert all(word in text for word in ("held", "violated", "inconclusive", "oversell-read-write"))


def test_half_written_folders_are_named_and_never_break_the_page(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    _run(tmp_path, "2026-05-04T12-30-00Z", None, report=False)
    (_run(tmp_path, "2026-05-04T12-31-00Z", None) / "scenario.json").write_text("{}")
    (_run(tmp_path, "2026-05-04T12-32-00Z", None) / "verdict.json").write_text('{"scenario": "x", "judg')
    (_run(tmp_path, "2026-05-04T12-33-00Z", None) / "verdict.json").write_text('{"scenario": 7}')
    _run(tmp_path, "2026-05-04T12-34-00Z", make_verdict(tmp_path), report=False)
    text = reports.write_index(tmp_path).read_text()
    assert "nothing was written yet" in text
    assert "still running, or cut short" in text
    assert text.count("verdict.json cannot be read") == 2
    assert "12-34-00Z/report.html" not in text


def test_links_and_foreign_folders_are_passed_over(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    folder = _run(tmp_path, "2026-05-04T12-30-00Z", make_verdict(tmp_path))
    (tmp_path / "latest").symlink_to(folder)
    (folder.parent / "newest").symlink_to(folder)
    (tmp_path / "notes" / "drafts").mkdir(parents=True)
    (tmp_path / "index.html").write_text("old")
    assert [entry.folder for entry in entries(tmp_path)] == ["2026-05-04T12-30-00Z"]


def test_without_runs_the_page_says_so(tmp_path: Path) -> None:
    assert "There are no runs here yet" in reports.write_index(tmp_path).read_text()


def test_hostile_folder_names_stay_names(tmp_path: Path, make_verdict: Callable[..., Verdict]) -> None:
    folder = tmp_path / '"><script>alert(1)<' / "2026-05-04T12-30-00Z"
    folder.mkdir(parents=True)
    (folder / "verdict.json").write_bytes(msgspec.json.encode(make_verdict(folder)))
    (folder / "report.html").write_text("<p>")
    text = reports.write_index(tmp_path).read_text()
    assert "<script" not in text
    assert "%22%3E%3Cscript%3E" in text
