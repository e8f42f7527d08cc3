"""The verdict of a made-up run, as the checker would give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from checker.verdict import Finding, Judgement, Premise, Verdict, WitnessLine

if TYPE_CHECKING:
    from pathlib import Path


def verdict(folder: Path, judgement: Judgement = Judgement.VALID, **changed: Any) -> Verdict:
    """Return a verdict of the run folder as the checker would give it."""
    witness = (
        WitnessLine(at_ms=1050.1, who="buyer-73", what="sends hold for the last seat of resource 8"),
        WitnessLine(at_ms=1050.13, who="buyer-75", what="sends hold for the last seat of resource 8"),
        WitnessLine(at_ms=1053.9, who="PostgreSQL", what="commits hold 8001: 1 of 1 taken"),
        WitnessLine(at_ms=1054.2, who="PostgreSQL", what="commits hold 8002: 2 of 1 taken"),
        WitnessLine(at_ms=None, who="state", what="2 live holds on a resource of capacity 1"),
    )
    invalid = judgement is Judgement.INVALID
    findings = (
        Finding(
            invariant="states_move_one_way",
            group="reservation",
            sentence="A hold that ended never changes again.",
            judgement=Judgement.VALID,
            looked_at=20,
            count=0,
            sql_hash="b" * 12,
        ),
        Finding(
            invariant="never_oversold",
            group="reservation",
            sentence="Live claims on a resource never add up to more than its capacity, at any commit.",
            judgement=judgement,
            looked_at=20,
            count=2 if invalid else 0,
            sql_hash="a" * 12,
            reason="trail_complete does not hold." if judgement is Judgement.UNKNOWN else None,
            rests_on=("trail_complete",),
            counter_examples=({"resource": "8", "claimed": 2, "capacity": 1, "commit_lsn": 4711},)
            if invalid
            else (),
            witness=witness if invalid else (),
        ),
    )
    whole = Verdict(
        run=folder.name,
        scenario="last_seat_race",
        story="Ten buyers reach for one seat at the same instant, again and again.",
        profile="smoke",
        seed=7,
        target="builtin",
        command="lastseat run last_seat_race --seed 7",
        judgement=judgement,
        reasons=("never_oversold: 2 counter-examples among 20.",) if invalid else (),
        findings=findings,
        premises=(
            Premise(
                name="overlap", kind="vacuity", holds=True, required="≥ 8 in flight", measured="10 in flight"
            ),
            Premise(
                name="trail_complete",
                kind="evidence",
                holds=judgement is not Judgement.UNKNOWN,
                required="base + trail = state",
                measured="equal in 3 tables"
                if judgement is not Judgement.UNKNOWN
                else "holds differ in 1 row",
            ),
        ),
        operations=220,
        changes=20,
        mutant="oversell-read-write" if invalid else None,
    )
    return msgspec.structs.replace(whole, **changed)
