"""From a Matplotlib figure to SVG that belongs to the page: its colours, its letters, unique ids, no metadata."""

from __future__ import annotations

import io
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matplotlib.axes import Axes

    from reports.evidence import Evidence, Fault

# Figures are drawn in these stand-in colours, which the SVG then takes from the page's style sheet, so that one
# drawing serves light, dark and print.
INKS = {
    "ink": "#0a0b01",
    "soft": "#0a0b02",
    "rule": "#0a0b03",
    "ok": "#0a0b04",
    "fail": "#0a0b05",
    "info": "#0a0b06",
    "fault": "#0a0b07",
    "series-1": "#0a0b08",
    "series-2": "#0a0b09",
    "series-3": "#0a0b0a",
    "series-4": "#0a0b0b",
}
WIDTH_INCHES = 11.0
SERIES = ("series-1", "series-2", "series-3", "series-4")
_PLACES = re.compile(r'\b(?:x|y|d|transform)="[^"]*"')
_FRACTION = re.compile(r"(\.\d\d)\d+")
_MARKERS = re.compile(
    r'<use href="(?P<of>[^"]+)" x="[^"]+" y="[^"]+" style="(?P<style>[^"]+)"/>'
    r'(?:<use href="(?P=of)" x="[^"]+" y="[^"]+" style="(?P=style)"/>)+'
)
_TOKENS = {colour: f"var(--{name})" for name, colour in INKS.items()}
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lastseat",
    # An owner called "$x$" is a name, not a formula.
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INKS["rule"],
    "axes.labelcolor": INKS["soft"],
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "xtick.color": INKS["rule"],
    "ytick.color": INKS["rule"],
    "xtick.labelcolor": INKS["soft"],
    "ytick.labelcolor": INKS["soft"],
    "grid.color": INKS["rule"],
    "grid.linewidth": 0.6,
    "font.size": 9.5,
}


# Matplotlib's settings are the whole process's: two reports drawn in two threads would undo each other's.
_ONE_DRAWS = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One drawing with its caption and its key: pairs of style sheet colour and what it stands for."""

    name: str
    heading: str
    drawing: Markup
    caption: str
    key: tuple[tuple[str, str], ...] = ()


@contextmanager
def house_style() -> Iterator[None]:
    """Put Matplotlib's settings to the house's, whatever the user's own file says, and back at the end."""
    with _ONE_DRAWS, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def sheet(
    rows: int = 1, height_inches: float = 3.6, columns: int = 1, top_inches: float = 0.25
) -> tuple[Figure, list[Axes]]:
    """Return a figure of the page's width with `rows` × `columns` axes, outside pyplot and its registry."""
    figure = Figure(figsize=(WIDTH_INCHES, height_inches))
    # Fixed margins: letting Matplotlib lay out by measuring every label takes as long as drawing.
    margins = {
        "left": 0.62 / WIDTH_INCHES,
        "right": 1 - 0.12 / WIDTH_INCHES,
        "bottom": 0.5 / height_inches,
        "top": 1 - top_inches / height_inches,
        "hspace": 0.62,
        "wspace": 0.12,
    }
    axes = figure.subplots(rows, columns, squeeze=False, gridspec_kw=margins).ravel().tolist()
    for one in axes:
        one.grid(axis="y")
        one.set_axisbelow(True)
    return figure, axes


def bands(axes: Axes, faults: Iterable[Fault], end_ms: float) -> None:
    """Draw each fault that was injected as a numbered band; the caption says what the numbers mean."""
    for number, fault in enumerate(faults, start=1):
        if fault.injected_ms is None:
            continue
        end = max(end_ms, fault.injected_ms) if fault.healed_ms is None else fault.healed_ms
        axes.axvspan(
            fault.injected_ms / 1e3, end / 1e3, color=INKS["fault"], alpha=0.16, linewidth=0, zorder=0
        )
        axes.text(
            fault.injected_ms / 1e3,
            1.01,
            str(number),
            transform=axes.get_xaxis_transform(),
            va="bottom",
            color=INKS["ink"],
            fontsize=9,
            fontweight="bold",
        )


def band_words(run: Evidence) -> str:
    """Return the sentence of a caption that says which faults the numbered bands are, if there are any."""
    named = [
        f"{number} {fault.name}"
        for number, fault in enumerate(run.faults, 1)
        if fault.injected_ms is not None
    ]
    return f" Shaded: {', '.join(named)}." if named else ""


def svg(figure: Figure, *, name: str, title: str, describe: str) -> Markup:
    """Return the figure as inline SVG with an accessible title and description; `name` makes its ids unique."""
    sink = io.StringIO()
    figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = sink.getvalue()
    text = text[text.index("<svg") :]
    head_end = text.index(">") + 1
    size = re.search(r'viewBox="[^"]+"', text[:head_end])
    body = re.sub(r"<metadata>.*?</metadata>", "", text[head_end:], flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*">', "<g>", body)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = body.replace('xlink:href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    body = re.sub(r"(fill|stroke): (#[0-9a-f]{6})\b", _token, body)
    body = re.sub(r"font-family: [^;\"]+; ", "", body)
    body = _PLACES.sub(lambda found: _FRACTION.sub(r"\1", found[0]), body)
    body = re.sub(r">\s+<", "><", body)
    body = _MARKERS.sub(_markers, body)
    head = (
        f'<svg {size[0] if size else ""} role="img" aria-labelledby="{name}-title {name}-desc" '
        f'xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(describe)}</desc>'
    )
    return Markup(head) + Markup(body)  # noqa: S704 - Matplotlib escapes each text it writes; the rest is its markup


def _token(found: re.Match[str]) -> str:
    return f"{found[1]}: {_TOKENS.get(found[2], found[2])}"


def _markers(found: re.Match[str]) -> str:
    """Say the style of a row of markers once for all of them: it is most of what a scatter plot weighs."""
    style = f' style="{found["style"]}"'
    return f"<g{style}>{found[0].replace(style, '')}</g>"
