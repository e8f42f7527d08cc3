"""The plots of latency: the percentile spectrum, and every operation over the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from reports.canvas import INKS, SERIES, Plot, band_words, bands, house_style, sheet, svg
from reports.courses import occupancy, rates, samples
from reports.latency import by_kind
from reports.wording import OUTCOME_WORDS, counted

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from reports.evidence import Evidence

SPECTRUM_POINTS_MAX = 600
SPECTRUM_TAIL = 200
SCATTER_POINTS_MAX = 3_000
_NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


def draw(run: Evidence, occupied: pd.DataFrame | None = None) -> tuple[Plot, ...]:
    """Draw every plot that the evidence can carry."""
    drawn: list[Plot] = []
    # One for all of them: each entry copies and restores the whole of Matplotlib's settings.
    with house_style():
        if run.operations is not None and run.operations["done_ms"].notna().any():
            drawn += [spectrum(run.operations), scatter(run, run.operations), rates(run, run.operations)]
        if occupied is not None:
            drawn.append(occupancy(run, occupied))
        if run.samples is not None and not run.samples.empty:
            drawn.append(samples(run, run.samples))
    return tuple(drawn)


def blank() -> None:
    """Draw an empty figure, so that fonts and backends are loaded before somebody waits for them."""
    with house_style():
        figure, _ = sheet()
        svg(figure, name="blank", title="", describe="")


def spectrum(operations: pd.DataFrame) -> Plot:
    """Draw response and service time over the percentiles, the tail stretched: every value a measured one."""
    figure, (axes,) = sheet(height_inches=4.0)
    key: list[tuple[str, str]] = []
    longest = 2.0
    for (kind, part), colour in zip(by_kind(operations), SERIES, strict=False):
        key.append((colour, kind))
        for measure, style in (("response_ms", "-"), ("service_ms", ":")):
            ordered = np.sort(part[measure].dropna().to_numpy())
            if len(ordered) < 2:  # noqa: PLR2004 - one value has no spectrum
                continue
            rank = _ranks(len(ordered))
            beyond = 1.0 / (1.0 - (rank + 0.5) / len(ordered))
            axes.plot(beyond, ordered[rank], style, color=INKS[colour], linewidth=1.5, drawstyle="steps-mid")
            longest = max(longest, float(beyond[-1]))
    axes.set_xscale("log")
    axes.set_xlim(1.0, longest * 1.05)
    axes.xaxis.set_major_locator(FixedLocator([1.0 / (1.0 - share) for share in _NINES]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 - 100 / x:.6g} %"))
    axes.grid(axis="x")
    _milliseconds(axes)
    axes.set_xlabel("share of operations that were at least this quick")
    return Plot(
        name="spectrum",
        heading="Percentile spectrum",
        drawing=svg(
            figure,
            name="spectrum",
            title="Percentile spectrum of latency",
            describe="Latency in milliseconds over percentiles from 0 up to the maximum, on logarithmic axes.",
        ),
        caption="Solid: response time, what a person waits (done − intended). Dotted: service time (done − sent). "
        "Each point is a measured value; nothing is rounded into buckets or interpolated.",
        key=tuple(key),
    )


def scatter(run: Evidence, operations: pd.DataFrame) -> Plot:
    """Draw each operation where it was intended, by its response time; what was never answered stands on top."""
    figure, (axes,) = sheet(height_inches=3.7)
    answered = operations[operations["done_ms"].notna()]
    shown = _thinned(answered)
    for outcome in reversed(OUTCOME_WORDS):
        part = shown[shown["outcome"] == outcome]
        x, y = part["intended_ms"] / 1e3, part["response_ms"].clip(lower=1e-3)
        axes.plot(x, y, "o", color=INKS[outcome], markersize=4, markeredgewidth=0, alpha=0.7)
    lost = operations.loc[operations["done_ms"].isna(), "intended_ms"] / 1e3
    top = np.full(len(lost), 0.97)
    axes.plot(lost, top, "x", color=INKS["info"], markersize=6, transform=axes.get_xaxis_transform())
    bands(axes, run.faults, run.end_ms)
    _milliseconds(axes)
    axes.set_xlabel("seconds after t₀, when the operation was intended")
    thinned = (
        ""
        if len(shown) == len(answered)
        else (
            f" Drawn: the slowest {SCATTER_POINTS_MAX // 3:,} of {counted(len(answered), 'operation')}, every one "
            f"that is unknown as far as there is room, and an even share of the rest."
        )
    )
    unanswered = f" ✕: {counted(len(lost), 'operation')} never answered." if len(lost) else ""
    return Plot(
        name="scatter",
        heading="Response time of every operation" if not thinned else "Response time over the run",
        drawing=svg(
            figure,
            name="scatter",
            title="Response time over the run",
            describe="One point per operation: seconds after the start, and response time in milliseconds.",
        ),
        caption=f"Response time (done − intended).{unanswered}{thinned}{band_words(run)}",
        key=tuple((outcome, OUTCOME_WORDS[outcome]) for outcome in OUTCOME_WORDS),
    )


def _ranks(count: int) -> np.ndarray:
    """Return the ranks to draw: the whole tail, and of the rest as many as can be told apart on a log axis."""
    if count <= SPECTRUM_POINTS_MAX:
        return np.arange(count)
    beyond = np.geomspace(SPECTRUM_TAIL, count, SPECTRUM_POINTS_MAX - SPECTRUM_TAIL)
    return np.unique(
        np.concatenate([count - beyond.astype(np.int64), np.arange(count - SPECTRUM_TAIL, count)])
    )


def _thinned(answered: pd.DataFrame) -> pd.DataFrame:
    """Return at most SCATTER_POINTS_MAX operations: the slowest, the unknown, and an even share of the others."""
    if len(answered) <= SCATTER_POINTS_MAX:
        return answered
    third = SCATTER_POINTS_MAX // 3
    slowest = answered["response_ms"].nlargest(third).index
    unknown = answered.index[answered["outcome"] == "info"].difference(slowest)
    unknown = unknown[:: -(-len(unknown) // third)] if len(unknown) else unknown
    rest = answered.index.difference(slowest.union(unknown))
    rest = rest[:: max(1, -(-len(rest) // third))]
    return answered.loc[slowest.union(unknown).union(rest)]


def _milliseconds(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("ms")
