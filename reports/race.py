"""The race timeline: who left when, who was answered when, who won, and when the database committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.verdict import Judgement
from reports.wording import OUTCOME_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from checker.verdict import Scalar, Verdict
    from reports.evidence import Evidence
    from reports.trail import Commit, Trail

BUYERS_MAX = 40
_SUBJECT_WORDS = ("subject", "resource", "resource_id")
_OPERATION_WORDS = ("op", "operation")
_CREATED_WORDS = ("created", "hold", "hold_id", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One request; `left` and `width` in percent of the track, `late_*` from intended to sent."""

    operation: str
    outcome: str
    answer: str
    sent_ms: float
    done_ms: float | None
    left: float
    width: float
    late_left: float
    late_width: float
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One commit; `left` in percent of the track, `what` the rows that it changed."""

    at_ms: float
    left: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One buyer of the race."""

    buyer: str
    won: bool
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One race, its times in ms after t0, its axis in ms after its first request left."""

    race: int
    why: str
    subject: str
    start_ms: float
    skew_ms: float
    races: int
    lanes: tuple[Lane, ...]
    left_out: int
    axis: tuple[tuple[float, str], ...]
    other_ticks: tuple[Tick, ...]
    commits_note: str


def timeline(run: Evidence, verdict: Verdict, trail: Trail) -> Timeline | None:
    """Tell the most interesting race: a violated one, else the tightest; None where nobody raced."""
    if run.operations is None:
        return None
    raced = run.operations[run.operations["race"].notna() & run.operations["sent_ms"].notna()]
    if raced.empty:
        return None
    race, why = _choose(raced, verdict)
    chosen = raced[raced["race"] == race].sort_values(["sent_ms", "op"])
    first = chosen[chosen["attempt"].fillna(1) == 1]
    start = float(chosen["sent_ms"].min())
    last = float(chosen[["sent_ms", "done_ms"]].max().max())
    subject = str(chosen["subject"].mode().iloc[0]) if chosen["subject"].notna().any() else ""
    window = _Window(start=min(start, float(chosen["intended_ms"].min())), end=last)
    found, note = trail.commits(subject, around_ms=(window.start, window.end))
    lanes, others = _lanes(chosen, window, found)
    return Timeline(
        race=int(race),
        why=why,
        subject=subject,
        start_ms=start,
        skew_ms=float(first["sent_ms"].max() - first["sent_ms"].min()) if len(first) else 0.0,
        races=int(raced["race"].nunique()),
        lanes=tuple(lanes[:BUYERS_MAX]),
        left_out=max(0, len(lanes) - BUYERS_MAX),
        axis=tuple(window.axis()),
        other_ticks=tuple(others),
        commits_note=note,
    )


@dataclass(frozen=True, slots=True)
class _Window:
    start: float
    end: float

    @property
    def span(self) -> float:
        return max(self.end - self.start, 1e-3) * 1.02

    def left(self, at_ms: float) -> float:
        return round(min(max((at_ms - self.start) / self.span * 100, 0.0), 100.0), 3)

    def width(self, from_ms: float, to_ms: float) -> float:
        return round(max(self.left(to_ms) - self.left(from_ms), 0.0), 3)

    def axis(self) -> Iterator[tuple[float, str]]:
        step = next(
            step * 10.0**power
            for power in range(-4, 9)
            for step in (1, 2, 5)
            if step * 10.0**power * 6 >= self.span
        )
        for number in range(int(self.span // step) + 1):
            yield self.left(self.start + number * step), f"{number * step:.10g}"


def _choose(raced: pd.DataFrame, verdict: Verdict) -> tuple[float, str]:
    for finding in verdict.findings:
        if finding.judgement is Judgement.INVALID:
            for example in finding.counter_examples:
                race = _race_of(raced, example)
                if race is not None:
                    return race, f"in it {finding.invariant} was violated"
    first = raced[raced["attempt"].fillna(1) == 1]
    spread = first.groupby("race")["sent_ms"].agg(["count", "min", "max"])
    most = spread[spread["count"] == spread["count"].max()]
    return float((most["max"] - most["min"]).idxmin()), "its buyers left closest together"


def _race_of(raced: pd.DataFrame, example: Mapping[str, Scalar]) -> float | None:
    """Return the race that a counter-example speaks of, by race, operation, created id or subject."""
    if isinstance(example.get("race"), int) and (raced["race"] == example["race"]).any():
        return float(str(example["race"]))
    for column, words in (("op", _OPERATION_WORDS), ("created", _CREATED_WORDS), ("subject", _SUBJECT_WORDS)):
        for word in words:
            value = example.get(word)
            if value is None:
                continue
            found = raced.loc[raced[column].astype(str) == str(value), "race"]
            if len(found):
                return float(found.iloc[0])
    return None


def _lanes(chosen: pd.DataFrame, window: _Window, found: tuple[Commit, ...]) -> tuple[list[Lane], list[Tick]]:
    """Return a lane for each buyer in the order they left, and the commits that belong to none of them."""
    owed = list(found)
    lanes: list[Lane] = []
    for arrival, part in chosen.groupby(chosen["arrival"].fillna(-1), sort=False):
        bars = tuple(_bar(row, window) for row in part.itertuples())
        sent = frozenset(part["op"])
        mine = [commit for commit in owed if commit.operations & sent]
        owed = [commit for commit in owed if not commit.operations & sent]
        owner = part["owner"].iloc[0]
        lanes.append(
            Lane(
                buyer=owner if isinstance(owner, str) and owner else f"buyer {int(float(str(arrival)))}",
                won=bool((part["outcome"] == "ok").any()),
                bars=bars,
                ticks=tuple(_tick(commit, window) for commit in mine),
            )
        )
    return lanes, [_tick(commit, window) for commit in owed]


def _tick(commit: Commit, window: _Window) -> Tick:
    return Tick(at_ms=commit.at_ms, left=window.left(commit.at_ms), what=commit.what)


def _bar(row: object, window: _Window) -> Bar:
    cell = row.__getattribute__
    done = cell("done_ms")
    answered = done == done  # noqa: PLR0124 - NaN where no answer came
    sent, intended = cell("sent_ms"), cell("intended_ms")
    words = [
        OUTCOME_WORDS.get(cell("outcome"), cell("outcome")) if answered else "never answered",
        cell("code"),
        cell("error"),
    ]
    return Bar(
        operation=str(cell("kind")),
        outcome=str(cell("outcome")),
        answer=" ".join(word for word in words if isinstance(word, str) and word),
        sent_ms=sent,
        done_ms=done if answered else None,
        left=window.left(sent),
        width=window.width(sent, done if answered else window.end),
        late_left=window.left(intended),
        late_width=window.width(intended, sent),
        attempt=int(cell("attempt") or 1) if cell("attempt") == cell("attempt") else 1,
    )
