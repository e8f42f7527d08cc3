"""The index shows every run there is, and the ones that are not whole as what they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

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
    assert text.count('colspan="5">no verdict: still running, or cut short') == 2
    assert text.count('colspan="5">verdict.json cannot be read') == 2
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


def test_a_run_that_has_been_silent_for_long_is_said_to_be_over(tmp_path: Path) -> None:
    cut_short = _run(tmp_path, "2026-05-04T12-30-00Z", None, report=False)
    played = _run(tmp_path, "2026-05-04T12-31-00Z", None, report=False)
    (played / "scenario.json").write_text("{}")
    for path in (cut_short, played / "scenario.json", played):
        os.utime(path, (0, 0))
    assert [entry.why for entry in sorted(entries(tmp_path), key=lambda entry: entry.folder)] == [
        "no verdict: cut short before it was played to its end",
        "no verdict: played to its end, but never judged; lastseat check does it",
    ]


def test_runs_with_a_planted_bug_stand_apart_from_healthy_ones(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    _run(tmp_path, "2026-05-04T12-30-00Z", replace(make_verdict(tmp_path), mutant=None))
    _run(tmp_path, "2026-05-04T12-31-00Z", replace(make_verdict(tmp_path), mutant="permit-leak"))
    unfinished = _run(tmp_path, "2026-05-04T12-32-00Z", None)
    (unfinished / "turn.json").write_text('{"season": "s", "profile": "smoke", "mutant": "permit-leak"}')
    text = reports.write_index(tmp_path).read_text()
    healthy, planted = text.partition("By time")[0].split('<th scope="row">')[1:]
    assert "permit-leak" not in healthy
    assert "with permit-leak" in planted
    assert [row.count("<li") for row in (healthy, planted)] == [1, 2]


def test_the_signs_are_explained(tmp_path: Path, make_verdict: Callable[..., Verdict]) -> None:
    _run(tmp_path, "2026-05-04T12-30-00Z", make_verdict(tmp_path))
    assert "✓ held, ✗ violated, ? inconclusive, · no verdict" in reports.write_index(tmp_path).read_text()


def test_proofs_of_the_bench_have_a_section_of_their_own(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    verdict = replace(make_verdict(tmp_path, Judgement.INVALID), mutant="permit-leak")
    folder = _run(tmp_path / "mutants", "2026-05-04T12-30-00Z", verdict).parent
    folder.rename(folder.with_name("permit-leak"))
    text = reports.write_index(tmp_path).read_text()
    assert "0 runs" in text
    assert 'href="mutants/permit-leak/2026-05-04T12-30-00Z/report.html"' in text
    assert "with permit-leak" not in text
