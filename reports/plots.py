"""The plots of a report: percentile spectrum, latency over time, outcome rates, and the course of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from reports.canvas import INKS, SERIES, bands, house_style, sheet, svg
from reports.latency import by_kind
from reports.wording import OUTCOME_WORDS, counted

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from reports.evidence import Evidence

OUTCOMES = ("ok", "fail", "info")
SPECTRUM_POINTS_MAX = 600
SPECTRUM_TAIL = 200
SCATTER_POINTS_MAX = 3_000
RATE_BARS_MAX = 80
METRICS_MAX = 8
_NINES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One drawing with its caption and its key: pairs of style sheet colour and what it stands for."""

    name: str
    heading: str
    drawing: Markup
    caption: str
    key: tuple[tuple[str, str], ...] = ()


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
            drawn.append(courses(run, run.samples))
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
    for outcome in reversed(OUTCOMES):
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
        caption=f"Response time (done − intended).{unanswered}{thinned}{_band_words(run)}",
        key=tuple((outcome, OUTCOME_WORDS[outcome]) for outcome in OUTCOMES),
    )


def rates(run: Evidence, operations: pd.DataFrame) -> Plot:
    """Draw how many operations ended a second, by outcome, stacked."""
    figure, (axes,) = sheet(height_inches=3.0)
    ended = operations["done_ms"].fillna(operations["intended_ms"]) / 1e3
    width = _bar_seconds(float(ended.min()), float(ended.max()))
    edges = np.arange(np.floor(ended.min() / width), np.floor(ended.max() / width) + 2) * width
    below = np.zeros(len(edges) - 1)
    for outcome in OUTCOMES:
        counts, _ = np.histogram(ended[operations["outcome"] == outcome], bins=edges)
        above = below + counts / width
        axes.stairs(above, edges, baseline=below, fill=True, color=INKS[outcome], linewidth=0)
        below = above
    bands(axes, run.faults, run.end_ms)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("operations per second")
    axes.set_xlabel("seconds after t₀, when the answer came")
    return Plot(
        name="rates",
        heading="Outcomes over time",
        drawing=svg(
            figure,
            name="rates",
            title="Outcome rates",
            describe="Operations per second, stacked by outcome, over seconds after the start.",
        ),
        caption=f"Bars of {width:g} s. Refused means certainly not done; unknown stays possible.{_band_words(run)}",
        key=tuple((outcome, OUTCOME_WORDS[outcome]) for outcome in OUTCOMES),
    )


def occupancy(run: Evidence, occupied: pd.DataFrame) -> Plot:
    """Draw how many units were claimed after each commit, against what there is; what is too much is marked."""
    figure, (axes,) = sheet(height_inches=3.0)
    by_resource = occupied.groupby("resource", sort=False)
    few = by_resource.ngroups <= len(SERIES)
    if few:
        lines = [(str(resource), part) for resource, part in by_resource]
    else:
        # A resource keeps its last figures until its next commit, so that the sum is right after each one.
        steps = occupied.assign(
            claimed=by_resource["claimed"].diff().fillna(occupied["claimed"]).cumsum(),
            capacity=by_resource["capacity"].diff().fillna(occupied["capacity"]).cumsum(),
        )
        lines = [(f"all {by_resource.ngroups:,} resources", steps)]
    for (_, every), colour in zip(lines, SERIES, strict=False):
        part = every.drop_duplicates("at_ms", keep="last")
        seconds = [*(part["at_ms"] / 1e3), max(run.seconds, float(part["at_ms"].max()) / 1e3)]
        for figures, style in (("claimed", "-"), ("capacity", "--")):
            level = [*part[figures], part[figures].iloc[-1]]
            axes.step(seconds, level, style, where="post", color=INKS[colour], linewidth=1.5)
    over = occupied[occupied["claimed"] > occupied["capacity"]]
    for at in over["at_ms"]:
        axes.axvline(at / 1e3, color=INKS["fault"], linewidth=1.2)
    bands(axes, run.faults, run.end_ms)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("units")
    axes.set_xlabel("seconds after t₀")
    worst = (
        ""
        if over.empty
        else (
            f" Red: {counted(len(over), 'commit')} after which a resource had more claimed than it has, "
            f"the worst {int((over['claimed'] - over['capacity']).max())} over."
        )
    )
    return Plot(
        name="occupancy",
        heading="Occupancy after every commit",
        drawing=svg(
            figure,
            name="occupancy",
            title="Occupancy from the trail",
            describe="Units claimed and capacity after each commit, over seconds after the start.",
        ),
        caption=f"Solid: units claimed, from the rows themselves. Dashed: capacity.{worst}{_band_words(run)}",
        key=tuple((colour, name) for (name, _), colour in zip(lines, SERIES, strict=False)),
    )


def courses(run: Evidence, samples: pd.DataFrame) -> Plot:
    """Draw each sampled metric over time, one small panel a metric and one line a source."""
    metrics = list(samples["metric"].value_counts().index[:METRICS_MAX])
    sources = sorted(samples["source"].dropna().unique())
    figure, panels = sheet(
        rows=-(-len(metrics) // 2), columns=2, height_inches=2.0 * -(-len(metrics) // 2), top_inches=0.45
    )
    for axes, metric in zip(panels, sorted(metrics), strict=False):
        chosen = samples[samples["metric"] == metric]
        for number, source in enumerate(sources):
            line = chosen[chosen["source"] == source].sort_values("mono_ms")
            axes.plot(line["mono_ms"] / 1e3, line["value"], color=INKS[SERIES[number % 4]], linewidth=1.2)
        axes.set_title(metric, loc="left", fontsize=9.5, color=INKS["ink"], pad=14)
        axes.set_ylim(bottom=min(0.0, float(chosen["value"].min())))
        bands(axes, run.faults, run.end_ms)
    for axes in panels[len(metrics) :]:
        axes.set_visible(False)
    left_out = samples["metric"].nunique() - len(metrics)
    return Plot(
        name="courses",
        heading="Pools, queues and machines",
        drawing=svg(
            figure,
            name="courses",
            title="Sampled metrics over time",
            describe=f"One panel for each of: {', '.join(sorted(metrics))}.",
        ),
        caption=f"Sampled over seconds after t₀.{f' {left_out} more are in samples.parquet.' if left_out else ''}"
        f"{_band_words(run)}",
        key=tuple((SERIES[number % 4], str(source)) for number, source in enumerate(sources)),
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


def _bar_seconds(first: float, last: float) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ seconds that needs no more than RATE_BARS_MAX bars."""
    least = max(last - first, 1e-3) / RATE_BARS_MAX
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least))


def _milliseconds(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel("ms")


def _band_words(run: Evidence) -> str:
    named = [
        f"{number} {fault.name}"
        for number, fault in enumerate(run.faults, 1)
        if fault.injected_ms is not None
    ]
    return f" Shaded: {', '.join(named)}." if named else ""
