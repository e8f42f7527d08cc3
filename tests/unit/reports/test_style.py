"""How the page is styled: every colour can be told from its ground, and a crowd of points has one style for all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import reports
from reports import page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict


def test_a_crowd_of_points_is_drawn_without_repeating_their_style(
    make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]
) -> None:
    folder = make_run(races=40)
    text = reports.write(folder, make_verdict(folder)).read_text()
    drawing = text[text.index('aria-labelledby="scatter-title') : text.index("rates-title")]
    points = re.findall(r"<use [^>]+>", drawing)
    assert len(points) > 400
    assert sum("style" in point for point in points) < 40


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_stands_out_enough(theme: int) -> None:
    # WCAG 2.2, 1.4.3: 4.5 to 1 for text; 1.4.11: 3 to 1 for what a drawing needs to be understood.
    source = page.environment().get_template("style.css").render()
    block = re.findall(r":root \{(.*?)\}", source, re.DOTALL)[theme]
    colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block))
    for text in ("ink", "soft", "valid", "invalid", "unknown", "link"):
        for ground in ("paper", "panel"):
            assert _contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for drawn in ("ok", "fail", "info", "series-1", "series-2", "series-3", "series-4"):
        assert _contrast(colours[drawn], colours["paper"]) >= 3.0, drawn


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
