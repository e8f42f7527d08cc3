"""The verdict and its parts, as they stand in verdict.json."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from checker.brief import SCHEMA_VERSION, Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

Scalar = str | int | float | bool | None


class Judgement(StrEnum):
    """Valid, invalid or unknown; a violation outranks unknown, unknown outranks valid."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class WitnessLine(msgspec.Struct, frozen=True, kw_only=True):
    """One moment of a witness: ms after t0 (None: at rest), who acted, and what happened.

    Where it tells of a fault that was in force, `fault` is its name and `until_ms` when it was healed (None: never).
    """

    at_ms: float | None
    who: str
    what: str
    fault: str | None = None
    until_ms: float | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What one invariant found: `count` counter-examples among `looked_at` things, the first few shown."""

    invariant: str
    group: str
    sentence: str
    judgement: Judgement
    looked_at: int
    count: int
    sql_hash: str
    reason: str | None = None
    rests_on: tuple[str, ...] = ()
    counter_examples: tuple[dict[str, Scalar], ...] = ()
    witness: tuple[WitnessLine, ...] = ()


class Premise(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one assumption held: what was required, what was measured, in words."""

    name: str
    kind: Kind
    holds: bool
    required: str
    measured: str


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured against one threshold, in words and in seconds; valid where the threshold is kept.

    It counts for the verdict where it was `judged`; otherwise it is only reported.
    """

    name: str
    operation: str
    judgement: Judgement
    judged: bool
    looked_at: int
    measured_seconds: float | None
    required: str
    measured: str
    reason: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The whole judgement of one run, recomputable from its folder."""

    run: str
    scenario: str
    story: str
    profile: str
    seed: int
    target: str
    command: str
    judgement: Judgement
    reasons: tuple[str, ...]
    findings: tuple[Finding, ...]
    premises: tuple[Premise, ...]
    figures: tuple[Figure, ...] = ()
    operations: int
    changes: int
    mutant: str | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def missed(self) -> tuple[Premise, ...]:
        """The assumptions that did not hold and decided something; see `decisive`."""
        return decisive(self.premises, self.findings)


def decisive(premises: Iterable[Premise], findings: Collection[Finding]) -> tuple[Premise, ...]:
    """Return the assumptions that did not hold and decided something: those of vacuity, and what a finding gives as its reason.

    One of evidence that no finding rests on, in the direction in which it was judged, is worth a look and no more.
    """
    return tuple(
        premise
        for premise in premises
        if not premise.holds
        and (premise.kind == "vacuity" or any(premise.name in (finding.reason or "") for finding in findings))
    )


def outrank(judgements: Iterable[Judgement]) -> Judgement:
    """Return the strongest of some judgements: invalid over unknown over valid; unknown of none at all."""
    seen = set(judgements)
    if Judgement.INVALID in seen:
        return Judgement.INVALID
    if Judgement.UNKNOWN in seen or not seen:
        return Judgement.UNKNOWN
    return Judgement.VALID
