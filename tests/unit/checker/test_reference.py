"""What docs/reference says is what the checker does."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from checker.reference import verdict_schema
from checker.verdict import Finding, Judgement, Premise, Verdict, WitnessLine

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def test_the_published_schema_is_not_stale() -> None:
    assert (REFERENCE / "verdict.schema.json").read_text() == verdict_schema(), "run `make docs`"


def test_a_verdict_fits_its_published_schema_and_a_changed_one_does_not() -> None:
    finding = Finding(
        invariant="never_oversold",
        group="reservation",
        sentence="…",
        judgement=Judgement.INVALID,
        looked_at=2,
        count=1,
        sql_hash="0",
        counter_examples=({"resource": "r", "claimed": 2, "share": 0.5, "late": None, "true": True},),
        witness=(WitnessLine(at_ms=None, who="a", what="b"),),
    )
    verdict = Verdict(
        run="r",
        scenario="s",
        story="",
        profile="smoke",
        seed=1,
        target="builtin",
        command="",
        judgement=Judgement.INVALID,
        reasons=("…",),
        findings=(finding,),
        premises=(Premise(name="happened", kind="vacuity", holds=True, required="", measured=""),),
        operations=2,
        changes=2,
    )
    schema = json.loads((REFERENCE / "verdict.schema.json").read_text())
    written = json.loads(msgspec.json.encode(verdict))
    jsonschema.validate(written, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written | {"judgement": "perhaps"}, schema)
