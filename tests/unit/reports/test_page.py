"""The page: whole, self-contained, readable without eyes, and unmoved by hostile names and missing parts."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reports
from checker import schemas
from checker.brief import read_brief, write_brief
from checker.verdict import Judgement
from tests.unit.reports.made_up.folder import build
from tests.unit.reports.made_up.race import Recipe
from tests.unit.reports.made_up.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict

HOSTILE = "<script>alert(1)</script>$x$ \x1b[31m\u202e]]>&{{7*7}}"
VOID = {"meta", "link", "col", "br", "path", "use", "rect"}


class Outline(HTMLParser):
    """What a page is made of, and whether its tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(name))]


@pytest.fixture(scope="module", params=[*Judgement])
def outline(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outline:
    """A page of each judgement, drawn once for all that look at it."""
    oversold = request.param is Judgement.INVALID
    folder = build(tmp_path_factory.mktemp("run"), Recipe(oversold=oversold, fault=True))
    return Outline(reports.write(folder, verdict(folder, request.param)).read_text())


def test_every_tag_closes_and_every_id_is_there_once(outline: Outline) -> None:
    ids = outline.values("id")
    assert outline.open == []
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere(outline: Outline) -> None:
    ids = set(outline.values("id"))
    named = {name for value in outline.values("aria-labelledby") for name in value.split()}
    linked = {value[1:] for value in outline.values("href") if value.startswith("#")}
    assert named | linked <= ids
    assert {"invariants", "assumptions", "race", "latency", "faults", "lab", "again"} <= linked


def test_nothing_is_fetched_and_nothing_runs(outline: Outline) -> None:
    assert all(value.startswith(("#", "data:")) for value in outline.values("href"))
    assert outline.values("src") == []
    assert not {"script", "iframe", "object", "img"} & {tag for tag, _ in outline.tags}
    policy = next(
        attributes for tag, attributes in outline.tags if tag == "meta" and "http-equiv" in attributes
    )
    assert "default-src 'none'" in str(policy["content"])


def test_a_reader_without_eyes_finds_landmarks_headings_captions_and_drawings(outline: Outline) -> None:
    tags = [tag for tag, _ in outline.tags]
    assert [tags.count(one) for one in ("main", "header", "footer", "nav", "h1")] == [1, 1, 1, 1, 1]
    assert tags.count("table") == tags.count("caption")
    assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")
    drawings = [attributes for tag, attributes in outline.tags if tag == "svg"]
    assert drawings
    assert all(drawing["role"] == "img" and drawing["aria-labelledby"] for drawing in drawings)
    assert tags.count("figure") == tags.count("figcaption")
    assert next(attributes for tag, attributes in outline.tags if tag == "a")["class"] == "skip"


def test_a_violation_is_told_with_its_witness_and_counter_examples(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True)
    text = reports.write(folder, make_verdict(folder, Judgement.INVALID)).read_text()
    assert "never_oversold was violated" in text
    assert "commits hold 8002: 2 of 1 taken" in text
    assert "The first 1 of 2 counter-examples" in text
    assert "oversell-read-write" in text
    assert "lastseat run last_seat_race --seed 7" in text


@pytest.mark.parametrize(
    "part",
    [
        "scenario.json",
        "operations.parquet",
        "faults.parquet",
        "samples.parquet",
        "clocks.parquet",
        "changes/holds.parquet",
    ],
)
@pytest.mark.parametrize("harm", ["missing", "half", "other"])
def test_a_part_that_is_missing_or_broken_is_named_and_stops_nothing(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict], part: str, harm: str
) -> None:
    folder = make_run(fault=True)
    whole = (folder / part).read_bytes()
    (folder / part).unlink()
    if harm == "half":
        (folder / part).write_bytes(whole[: len(whole) // 2])
    elif harm == "other":
        (folder / part).write_bytes(b"")
    text = reports.write(folder, make_verdict(folder)).read_text()
    assert "Every invariant held" in text
    if "/" not in part and part != "clocks.parquet":
        told = "is missing" if harm == "missing" else "cannot be read"
        assert f"{part} {told}" in text


def test_an_empty_folder_still_gets_all_four_files(
    tmp_path: Path, make_verdict: Callable[..., Verdict]
) -> None:
    reports.write(tmp_path, make_verdict(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html",
        "junit.xml",
        "summary.md",
        "quantiles.csv",
    }


def test_the_same_folder_gives_the_same_bytes(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(fault=True)
    names = ("report.html", "junit.xml", "summary.md", "quantiles.csv")
    reports.write(folder, make_verdict(folder))
    first = [(folder / name).read_bytes() for name in names]
    reports.write(folder, make_verdict(folder))
    assert [(folder / name).read_bytes() for name in names] == first


def test_hostile_names_are_shown_and_never_obeyed(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(oversold=True, fault=True, owner=HOSTILE.replace("{", "(").replace("}", ")") + "{}")
    write_brief(
        folder, msgspec.structs.replace(read_brief(folder), parts={HOSTILE: HOSTILE}, links={"a": HOSTILE})
    )
    verdict = make_verdict(folder, Judgement.INVALID)
    hostile = msgspec.structs.replace(
        verdict.findings[1],
        sentence=HOSTILE,
        reason=HOSTILE,
        counter_examples=({HOSTILE: HOSTILE},),
        witness=(msgspec.structs.replace(verdict.findings[1].witness[0], who=HOSTILE, what=HOSTILE),),
    )
    verdict = msgspec.structs.replace(
        verdict, story=HOSTILE, reasons=(HOSTILE,), command=HOSTILE, findings=(verdict.findings[0], hostile)
    )
    text = reports.write(folder, verdict).read_text()
    assert "script" not in {tag for tag, _ in Outline(text).tags}
    assert "&lt;script&gt;" in text
    assert "{{7*7}}" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_metric_with_dollar_signs_is_a_name_and_not_a_formula(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(races=2)
    samples = pa.table(
        {
            "mono_ns": [0, 1],
            "source": ["node-a"] * 2,
            "metric": [r"<b>$\frac{broken$"] * 2,
            "value": [1.0, 2.0],
        },
        schema=schemas.SAMPLES,
    )
    pq.write_table(samples, folder / "samples.parquet")
    text = reports.write(folder, make_verdict(folder)).read_text()
    assert r"&lt;b&gt;$\frac{broken$" in text


def test_credentials_that_slipped_into_a_brief_are_not_printed(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESERVATION_TOKEN_SECRET", "sesame-of-the-environment")
    folder = make_run()
    (folder / "logs").mkdir()
    (folder / "logs" / "node-a.log").write_text("secret=sesame-of-the-log")
    links = {"pg-a": "postgres://app:sesame-of-the-link@127.0.0.1:5432/app"}
    write_brief(folder, msgspec.structs.replace(read_brief(folder), links=links))
    command = "lastseat run x --database-url postgres://u:sesame-of-the-command@db/app --password=sesame-of-the-flag"
    reports.write(folder, make_verdict(folder, command=command, reasons=("Bearer sesame.of.the.reason",)))
    written = [
        path.read_text() for path in folder.iterdir() if path.suffix in {".html", ".xml", ".md", ".csv"}
    ]
    assert len(written) == 4
    assert not any("sesame" in text for text in written)
    assert "postgres://[redacted]@127.0.0.1:5432/app" in "".join(written)


def test_a_report_that_cannot_be_finished_leaves_the_old_one(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run()
    report = reports.write(folder, make_verdict(folder))
    before, names = report.read_bytes(), sorted(folder.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space"):
        reports.write(folder, make_verdict(folder, Judgement.INVALID))
    assert report.read_bytes() == before
    assert sorted(folder.iterdir()) == names
