"""The judgement of one run, from its folder alone: assumptions measured, invariants asked, the verdict drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import msgspec

from checker import assumptions, thresholds
from checker.asking import ask
from checker.brief import SCHEMA_VERSION, read_brief
from checker.evidence import EvidenceError, open_evidence
from checker.invariants import load
from checker.linear import Undecided
from checker.seal import refuse_damage
from checker.verdict import Finding, Judgement, Premise, Verdict, WitnessLine, decisive, outrank
from checker.witness import witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from checker.brief import Assumption, Brief
    from checker.evidence import Evidence
    from checker.rule import Rule
    from checker.verdict import Scalar


def check(folder: Path, extra_dirs: Iterable[Path] = ()) -> Verdict:
    """Judge a run folder, writing nothing; the same folder gives the same verdict, byte for byte.

    Invariants in `extra_dirs` are judged besides those that the scenario names. Raises EvidenceError on evidence that
    is not as described, InvariantError on a file that is no invariant, FileNotFoundError without scenario.json.
    """
    refuse_damage(folder)
    brief = read_brief(folder)
    if brief.schema_version != SCHEMA_VERSION:
        raise EvidenceError(
            f"its evidence is of version {brief.schema_version}, and this Lastseat reads version {SCHEMA_VERSION}"
        )
    built_in = load()
    rules = load(extra_dirs)
    own = [name for name in rules if name not in built_in]
    with open_evidence(folder, brief) as evidence:
        premises = tuple(assumptions.premise(evidence, each) for each in _assumed(brief))
        asked = tuple(dict.fromkeys((*brief.invariants, *own)))
        found = _findings(evidence, [name for name in asked if name not in own], rules, premises)
        figures = thresholds.figures(evidence, brief, premises)
        (operations,) = evidence.row("SELECT count(*) FROM operations")
        (changes,) = evidence.row("SELECT count(*) FROM changes")
        # Those of somebody's own come last of all, for a function may do with the evidence whatever it likes.
        found |= {name: _judge_own(evidence, rules[name], premises) for name in asked if name in own}
    findings = tuple(found[name] for name in asked)
    return Verdict(
        run=brief.run,
        scenario=brief.scenario,
        story=brief.story,
        profile=brief.profile,
        seed=brief.seed,
        target=brief.target,
        command=brief.command,
        judgement=outrank([*(each.judgement for each in findings), *thresholds.judgements(figures)]),
        reasons=(*_reasons(findings, premises), *thresholds.reasons(figures)),
        findings=findings,
        premises=premises,
        figures=figures,
        operations=operations,
        changes=changes,
        mutant=brief.mutant,
    )


def _assumed(brief: Brief) -> tuple[Assumption, ...]:
    """Return the scenario's assumptions, then those of evidence that it does not restate with limits of its own."""
    restated = {assumption.name for assumption in brief.assumptions}
    return (*brief.assumptions, *(each for each in assumptions.always() if each.name not in restated))


def _findings(
    evidence: Evidence, names: Iterable[str], rules: Mapping[str, Rule], premises: Sequence[Premise]
) -> dict[str, Finding]:
    """Judge one invariant after the other.

    Those that read most come first: what everything is made out of is then soon read by nobody, and makes room.
    """
    texts = {name: rules[name].texts if name in rules else () for name in names}
    waiting = sorted(texts, key=lambda name: evidence.breadth(texts[name]), reverse=True)
    findings: dict[str, Finding] = {}
    while waiting:
        evidence.expect(text for name in waiting for text in texts[name])
        name = waiting.pop(0)
        findings[name] = _judge(evidence, name, rules.get(name), premises)
    return findings


def _judge_own(evidence: Evidence, rule: Rule, premises: Sequence[Premise]) -> Finding:
    """Judge one of somebody's own: what it breaks, or finds broken by one before it, is no more than its own verdict."""
    try:
        evidence.expect(rule.texts)
        return _judge(evidence, rule.name, rule, premises)
    except (EvidenceError, duckdb.Error) as broken:
        return msgspec.structs.replace(_blank(rule), reason=_undecided(broken))


def _judge(evidence: Evidence, name: str, rule: Rule | None, premises: Sequence[Premise]) -> Finding:
    """Judge one invariant: missing and broken evidence first, then what it found, then whether that means anything."""
    if rule is None:
        return _nameless(name)
    blank = _blank(rule)
    lacks = [lack for need in rule.needs if (lack := evidence.lacks(need))]
    if lacks:
        return msgspec.structs.replace(blank, reason="; ".join(dict.fromkeys(lacks)))
    try:
        # What many rules read is nobody's own time.
        for text in rule.texts:
            evidence.prepare(text)
        looked_at, count, shown = ask(evidence, rule)
    except (Undecided, duckdb.Error) as error:
        return msgspec.structs.replace(blank, reason=_undecided(error))
    counted = msgspec.structs.replace(blank, looked_at=looked_at, count=count)
    grounds = (*rule.rests_on, *(rule.violation_rests_on if count else ()))
    if broken := [premise for premise in premises if premise.name in grounds and not premise.holds]:
        found = f", so its {count} counter-examples prove nothing" if count else ""
        return msgspec.structs.replace(counted, reason=f"{_missed(broken)}{found}")
    if shown:
        return msgspec.structs.replace(
            counted,
            judgement=Judgement.INVALID,
            counter_examples=tuple(_plain(row) for row in shown),
            witness=_story(evidence, shown[0]),
        )
    unmet = [
        premise
        for premise in premises
        if not premise.holds and (premise.kind == "vacuity" or premise.name in rule.pass_rests_on)
    ]
    return _unviolated(counted, unmet)


def _story(evidence: Evidence, example: dict[str, Any]) -> tuple[WitnessLine, ...]:
    """Tell the witness; a column of a user's own may bear a name that means something else here."""
    try:
        return witness(evidence, example)
    except (duckdb.Error, ValueError, TypeError) as error:
        said = f"the columns of the counter-example tell no story: {_first_line(error)}"
        return (WitnessLine(at_ms=None, who="in sum", what=said),)


def _unviolated(finding: Finding, unmet: Sequence[Premise]) -> Finding:
    """Conclude what nothing violated: valid, unless there was nothing to look at or that means nothing."""
    if not finding.looked_at:
        return msgspec.structs.replace(finding, reason="there was nothing to look at")
    if unmet:
        # What was measured is said once, in the verdict's reasons.
        missed = ", ".join(premise.name for premise in unmet)
        return msgspec.structs.replace(finding, reason=f"nothing was violated, but without {missed}")
    return msgspec.structs.replace(finding, judgement=Judgement.VALID)


def _blank(rule: Rule) -> Finding:
    return Finding(
        invariant=rule.name,
        group=rule.group,
        sentence=rule.sentence,
        judgement=Judgement.UNKNOWN,
        looked_at=0,
        count=0,
        sql_hash=rule.sql_hash,
        rests_on=(*rule.rests_on, *rule.violation_rests_on),
    )


def _nameless(name: str) -> Finding:
    return Finding(
        invariant=name,
        group="",
        sentence="",
        judgement=Judgement.UNKNOWN,
        looked_at=0,
        count=0,
        sql_hash="",
        reason=f"there is no invariant {name!r}",
    )


def _plain(row: dict[str, Any]) -> dict[str, Scalar]:
    """Return a row as JSON can hold it."""
    return {
        name: value if isinstance(value, str | int | float | bool | None) else str(value)
        for name, value in row.items()
    }


def _missed(premises: Sequence[Premise]) -> str:
    return "; ".join(f"{premise.name} does not hold ({premise.measured})" for premise in premises)


def _undecided(error: Exception) -> str:
    return f"it could not be judged: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _reasons(findings: Sequence[Finding], premises: Sequence[Premise]) -> tuple[str, ...]:
    """Say why the verdict is not valid, the strongest reasons first, each premise once."""
    violated = [
        f"{finding.invariant} is violated: {finding.count:,} counter-examples among {finding.looked_at:,}"
        for finding in findings
        if finding.judgement is Judgement.INVALID
    ]
    missed = [
        f"{premise.name} does not hold: required {premise.required}; measured {premise.measured}"
        for premise in decisive(premises, findings)
    ]
    other = [
        f"{finding.invariant} is unknown: {finding.reason}"
        for finding in findings
        if finding.judgement is Judgement.UNKNOWN
        and not any(premise.name in (finding.reason or "") for premise in premises if not premise.holds)
    ]
    none = [] if findings else ["no invariant was asked"]
    return (*violated, *missed, *other, *none)
