"""JUnit, Markdown and GitHub's annotations: each says what the verdict says, and nothing in it can break out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import pytest

from checker.verdict import Judgement, Premise
from reports import junit, markdown
from reports.github import annotate
from reports.latency import Tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.verdict import Verdict

STARTED = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
NOTHING = Tables(whole=(), around=())
HOSTILE = "a|b\n\x07::error::<b>@someone</b> `x` **y** [z](http://z) ]]> 100%"


@pytest.fixture
def make(make_verdict: Callable[..., Verdict]) -> Callable[..., Verdict]:
    return lambda judgement=Judgement.VALID, **changed: make_verdict(Path("run"), judgement, **changed)


def _hostile(verdict: Verdict) -> Verdict:
    finding = msgspec.structs.replace(
        verdict.findings[1],
        invariant=HOSTILE,
        sentence=HOSTILE,
        counter_examples=({"owner": HOSTILE},),
        witness=(msgspec.structs.replace(verdict.findings[1].witness[0], who=HOSTILE, what=HOSTILE),),
    )
    return msgspec.structs.replace(
        verdict, scenario=HOSTILE, story=HOSTILE, command=HOSTILE, reasons=(HOSTILE,), findings=(finding,)
    )


def test_junit_has_a_case_for_each_invariant_and_assumption(make: Callable[..., Verdict]) -> None:
    root = ET.fromstring(junit.render(make(), STARTED, 2.9))
    (suite,) = root
    assert {
        key: suite.get(key) for key in ("tests", "failures", "errors", "skipped", "time", "timestamp")
    } == {
        "tests": "4",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
        "time": "2.900",
        "timestamp": "2026-05-04T12:30:00",
    }
    assert [case.get("classname") for case in suite.iter("testcase")] == [
        *["lastseat.last_seat_race.invariants"] * 2,
        *["lastseat.last_seat_race.assumptions"] * 2,
    ]


def test_junit_tells_a_violation_as_a_failure_with_its_witness(make: Callable[..., Verdict]) -> None:
    root = ET.fromstring(junit.render(make(Judgement.INVALID), STARTED, 2.9))
    (failure,) = root.iter("failure")
    assert failure.get("message", "").endswith("2 counter-examples among 20.")
    assert "commits hold 8002: 2 of 1 taken" in (failure.text or "")
    assert "Again: lastseat run last_seat_race --seed 7" in (failure.text or "")


def test_junit_tells_what_is_unknown_as_an_error_that_no_ci_system_overlooks(
    make: Callable[..., Verdict],
) -> None:
    root = ET.fromstring(junit.render(make(Judgement.UNKNOWN), None, 0.0))
    assert [error.get("message") for error in root.iter("error")] == [
        "trail_complete does not hold.",
        "Required: base + trail = state. Measured: holds differ in 1 row.",
    ]
    assert root[0].get("errors") == "2"
    assert root[0].get("skipped") == "0"


def test_an_assumption_whose_miss_decided_nothing_is_no_defect_of_a_run(make: Callable[..., Verdict]) -> None:
    held = make()
    starved = Premise(name="processors_free", kind="evidence", holds=False, required="some", measured="none")
    verdict = msgspec.structs.replace(held, premises=(*held.premises, starved))
    assert verdict.missed == ()
    root = ET.fromstring(junit.render(verdict, None, 0.0))
    assert (root[0].get("errors"), root[0].get("tests")) == (
        "0",
        str(len(held.findings) + 3 + len(held.figures)),
    )
    assert annotate(verdict) == []
    assert "processors_free" not in markdown.render(verdict, NOTHING)


def test_junit_stays_xml_whatever_a_run_says(make: Callable[..., Verdict]) -> None:
    root = ET.fromstring(junit.render(_hostile(make(Judgement.INVALID)), STARTED, 1.0))
    assert len(list(root.iter("failure"))) == 1


def test_markdown_leads_with_the_verdict_and_tells_the_witness(make: Callable[..., Verdict]) -> None:
    text = markdown.render(make(Judgement.INVALID), NOTHING)
    assert text.startswith("## ✗ last\\_seat\\_race: never\\_oversold was violated")
    assert "| at rest | state | 2 live holds on a resource of capacity 1 |" in text
    assert "planted on purpose" in text
    assert text.endswith("```sh\nlastseat run last_seat_race --seed 7\n```\n")


def test_markdown_names_the_assumption_that_was_missed(make: Callable[..., Verdict]) -> None:
    text = markdown.render(make(Judgement.UNKNOWN), NOTHING)
    assert "Assumption **trail\\_complete** does not hold" in text


def test_markdown_disarms_markup_html_mentions_and_links(make: Callable[..., Verdict]) -> None:
    text = markdown.render(_hostile(make(Judgement.INVALID)), NOTHING)
    body = text[: text.index("```")]
    assert "<b>" not in body
    assert "@someone" not in body
    assert "\\[z\\]" in body
    assert "://" not in body
    rows = [line for line in body.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {6, 4}


def test_a_command_cannot_close_its_own_fence() -> None:
    assert markdown.escape("x``` y") == "x\\`\\`\\` y"


def test_annotations_are_errors_for_violations_and_warnings_for_doubts(make: Callable[..., Verdict]) -> None:
    assert annotate(make()) == []
    (error,) = annotate(make(Judgement.INVALID))
    assert error.startswith("::error title=last_seat_race%3A never_oversold was violated::Live claims")
    assert [line.split(" ", 1)[0] for line in annotate(make(Judgement.UNKNOWN))] == ["::warning", "::warning"]


def test_an_annotation_is_one_line_and_cannot_start_another(make: Callable[..., Verdict]) -> None:
    (line,) = annotate(_hostile(make(Judgement.INVALID)))
    assert "\n" not in line
    assert "\r" not in line
    properties, message = line.removeprefix("::error title=").split("::", 1)
    assert ":" not in properties
    assert "," not in properties
    assert "100%25" in message
