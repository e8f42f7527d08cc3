"""The courses of a run: outcomes, occupancy and samples, each over the same seconds with the faults as bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter

from reports.canvas import INKS, SERIES, Plot, band_words, bands, sheet, svg
from reports.wording import OUTCOME_WORDS, counted

if TYPE_CHECKING:
    import pandas as pd

    from reports.evidence import Evidence

RATE_BARS_MAX = 80
METRICS_MAX = 8
FULL_LINES_MAX = 12
MILLIONS_FROM = 1e6


def rates(run: Evidence, operations: pd.DataFrame) -> Plot:
    """Draw how many operations ended a second, by outcome, stacked."""
    figure, (axes,) = sheet(height_inches=3.0)
    ended = operations["done_ms"].fillna(operations["intended_ms"]) / 1e3
    width = _bar_seconds(float(ended.min()), float(ended.max()))
    edges = np.arange(np.floor(ended.min() / width), np.floor(ended.max() / width) + 2) * width
    below = np.zeros(len(edges) - 1)
    for outcome in OUTCOME_WORDS:
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
        caption=f"Bars of {width:g} s. Refused means certainly not done; unknown stays possible.{band_words(run)}",
        key=tuple((outcome, OUTCOME_WORDS[outcome]) for outcome in OUTCOME_WORDS),
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
    # A few are drawn from top to bottom; of many, which would hide the rest, only a stub at the foot is.
    height = 1.0 if len(over) <= FULL_LINES_MAX else 0.05
    x = np.repeat(over["at_ms"].to_numpy() / 1e3, 3)
    y = np.tile([0.0, height, np.nan], len(over))
    axes.plot(x, y, color=INKS["fault"], linewidth=1.2, transform=axes.get_xaxis_transform())
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
        caption=f"Solid: units claimed, from the rows themselves. Dashed: capacity.{worst}{band_words(run)}",
        key=tuple((colour, name) for (name, _), colour in zip(lines, SERIES, strict=False)),
    )


def samples(run: Evidence, sampled: pd.DataFrame) -> Plot:
    """Draw each sampled metric over time, one small panel a metric and one line a source."""
    metrics = list(sampled["metric"].value_counts().index[:METRICS_MAX])
    sources = sorted(sampled["source"].dropna().unique())
    figure, panels = sheet(
        rows=-(-len(metrics) // 2), columns=2, height_inches=2.0 * -(-len(metrics) // 2), top_inches=0.45
    )
    for axes, metric in zip(panels, sorted(metrics), strict=False):
        chosen = sampled[sampled["metric"] == metric]
        for number, source in enumerate(sources):
            line = chosen[chosen["source"] == source].sort_values("mono_ms")
            axes.plot(line["mono_ms"] / 1e3, line["value"], color=INKS[SERIES[number % 4]], linewidth=1.2)
        axes.set_title(metric, loc="left", fontsize=9.5, color=INKS["ink"], pad=14)
        highest = float(chosen["value"].max())
        axes.set_ylim(bottom=min(0.0, float(chosen["value"].min())), top=None if highest > 0 else 1.0)
        axes.yaxis.set_major_formatter(FuncFormatter(_millions if highest >= MILLIONS_FROM else _plain))
        bands(axes, run.faults, run.end_ms)
    for axes in panels[len(metrics) :]:
        axes.set_visible(False)
    left_out = sampled["metric"].nunique() - len(metrics)
    return Plot(
        name="samples",
        heading="Pools, queues and machines",
        drawing=svg(
            figure,
            name="samples",
            title="Sampled metrics over time",
            describe=f"One panel for each of: {', '.join(sorted(metrics))}.",
        ),
        caption=f"Sampled over seconds after t₀.{f' {left_out} more are in samples.parquet.' if left_out else ''}"
        f"{band_words(run)}",
        key=tuple((SERIES[number % 4], str(source)) for number, source in enumerate(sources)),
    )


def _bar_seconds(first: float, last: float) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ seconds that needs no more than RATE_BARS_MAX bars."""
    least = max(last - first, 1e-3) / RATE_BARS_MAX
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least))


def _millions(y: float, _: object) -> str:
    return f"{y / 1e6:,g} M"


def _plain(y: float, _: object) -> str:
    return f"{y:,g}"
