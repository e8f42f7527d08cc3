"""Whether a verdict that was computed again agrees with the one that was written into the run folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from checker.verdict import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What a comparison is told as; `trusted` unless the written verdict is broken, or differs for no reason of a rule."""

    words: str
    trusted: bool = True


def compare(folder: Path, verdict: Verdict) -> Agreement:
    """Compare with verdict.json, where it is there.

    It may differ in good faith: a rule has changed since, or other invariants of somebody's own were asked for.
    """
    try:
        there = msgspec.json.decode((folder / "verdict.json").read_bytes(), type=Verdict)
    except FileNotFoundError:
        return Agreement(words="There was no verdict.json to compare with.")
    except (OSError, msgspec.MsgspecError) as odd:
        return Agreement(
            words=f"verdict.json cannot be read, so nothing was compared, and it is not as the run left it: {odd}",
            trusted=False,
        )
    if there == verdict:
        return Agreement(words="The verdict agrees with the one in verdict.json.")
    before = {finding.invariant: finding for finding in there.findings}
    now = {finding.invariant: finding for finding in verdict.findings}
    added = [name for name in now if name not in before]
    gone = [name for name in before if name not in now]
    if (added or gone) and _shared(there, now) == _shared(verdict, before):
        asked = [f"did not ask for {', '.join(added)}"] if added else []
        asked += [f"also asked for {', '.join(gone)} (--invariants names their folder)"] if gone else []
        return Agreement(
            words=f"The verdict agrees with the one in verdict.json, which {' and '.join(asked)}."
        )
    changed = [name for name in now if name in before and now[name].sql_hash != before[name].sql_hash]
    return _difference(there, verdict, changed=changed, added=added)


def _shared(verdict: Verdict, others: Container[str]) -> Verdict:
    """Return what two verdicts must have in common where each asked for some that the other did not."""
    common = tuple(finding for finding in verdict.findings if finding.invariant in others)
    return msgspec.structs.replace(verdict, findings=common, judgement=Judgement.UNKNOWN, reasons=())


def _difference(there: Verdict, verdict: Verdict, *, changed: list[str], added: list[str]) -> Agreement:
    words = [f"It differs from verdict.json, which says {there.judgement.value}."]
    if changed:
        words.append(f"These rules have changed since: {', '.join(changed)}.")
    if added:
        words.append(f"These were not judged then: {', '.join(added)}.")
    if verdict.figures != there.figures:
        words.append("What is measured against thresholds differs.")
    if not changed:
        words.append("No rule has changed, so the evidence, verdict.json or the checker has.")
    return Agreement(words="\n  ".join(words), trusted=bool(changed))
