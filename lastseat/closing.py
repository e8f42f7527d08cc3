"""The sum of a season in a few lines: how many of the runs asked for held, and what became of those without a verdict."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from checker.verdict import Judgement
from reports.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lastseat.docket import Season, Setting, Turn

NAMES_MAX = 3


def closing(planned: Sequence[Turn], season: Season, setting: Setting) -> Iterator[str]:
    """Yield the lines on a season of several turns, of which some may be needless or not have been come to."""
    asked = Counter(turn.filed for turn in planned)
    done = Counter(each.turn.filed for each in season.judged) + Counter(
        turn.filed for turn in season.unplayed
    )
    by_name = {turn.filed: turn for turn in planned}
    left = {name: asked[name] - done[name] for name in asked if asked[name] > done[name]}
    spared = {
        name for name in left if setting.needless is not None and setting.needless(season, by_name[name])
    }
    for name in (each for each in left if each in spared):
        yield f"{name}: ended after {done[name]} of {counted(asked[name], 'run')}, as --until asks."
    missing = {name: count for name, count in left.items() if name not in spared}
    held = sum(each.verdict.judgement is Judgement.VALID for each in season.judged)
    total = sum(done.values()) + sum(missing.values())
    yield f"{held} of {total} held{_unfinished(missing)}."
    index = planned[0].runs.resolve() / "index.html"
    if index.exists():  # a season that was broken off may have drawn nothing
        yield f"All runs: {index}"


def _unfinished(missing: dict[str, int]) -> str:
    if not missing:
        return ""
    names = [name if count == 1 else f"{name} ({count} times)" for name, count in missing.items()]
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return f"; not finished: {', '.join(names[:NAMES_MAX])}{more}"
