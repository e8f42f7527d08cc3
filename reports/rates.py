"""How often a finding came back where scenarios are played again and again: a race is a rate, not a certainty."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from checker.verdict import Judgement
from reports.printable import one_line
from reports.wording import WORD, broken, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from checker.verdict import Verdict


def print_rates(runs: Mapping[str, Sequence[Verdict]], unplayed: Mapping[str, int], console: Console) -> None:
    """Print for each scenario how its runs came out, and what was found in how many of them."""
    for scenario in dict.fromkeys((*runs, *unplayed)):
        for line in told(scenario, runs.get(scenario, ()), unplayed.get(scenario, 0)):
            console.print(Text(line), soft_wrap=True)


def told(scenario: str, verdicts: Sequence[Verdict], unplayed: int) -> Iterator[str]:
    """Yield the lines on one scenario: the runs of each judgement, then findings and missed assumptions, most frequent first."""
    judged = Counter(verdict.judgement for verdict in verdicts)
    parts = [f"{judged[judgement]} {WORD[judgement]}" for judgement in Judgement]
    parts += [f"{unplayed} could not be played"] if unplayed else []
    yield f"{one_line(scenario)}: {counted(len(verdicts) + unplayed, 'run')}, {', '.join(parts)}"
    total = len(verdicts)
    for words, kind in (("came back in", _violated), ("could not be judged in", _unjudged)):
        for name, count in Counter(name for verdict in verdicts for name in kind(verdict)).most_common():
            yield f"  {one_line(name)} {words} {count} of {total}"
    slow = Counter(figure.name for verdict in verdicts for figure in broken(verdict))
    for name, count in slow.most_common():
        yield f"  {one_line(name)} was not kept in {count} of {total}"
    untold = Counter(
        figure.name
        for verdict in verdicts
        for figure in verdict.figures
        if figure.judged and figure.judgement is Judgement.UNKNOWN
    )
    for name, count in untold.most_common():
        yield f"  {one_line(name)} cannot be told in {count} of {total}"
    missed = Counter(premise.name for verdict in verdicts for premise in verdict.missed)
    for name, count in missed.most_common():
        yield f"  assumption {one_line(name)} did not hold in {count} of {total}"


def _violated(verdict: Verdict) -> Iterator[str]:
    """Yield the name of each invariant that was violated."""
    return (found.invariant for found in verdict.findings if found.judgement is Judgement.INVALID)


def _unjudged(verdict: Verdict) -> Iterator[str]:
    """Yield the name of each invariant that is unknown where no missed assumption says so for all of them."""
    if not verdict.missed:
        yield from (found.invariant for found in verdict.findings if found.judgement is Judgement.UNKNOWN)
