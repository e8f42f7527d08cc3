"""Without a terminal a run speaks in plain lines, and does not flood a log."""

from __future__ import annotations

import io

from rich.console import Console

from lastseat.live import progress


def _spoken(*, terminal: bool) -> str:
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=terminal, width=100)) as telling:
        telling.phase("the crowd comes")
        telling.faults(("cut:redis",))
        for done in range(1, 11):
            telling.load(done=done, total=10, ok=1, fail=done - 1, info=0)
        telling.notice("the stand-in is used")
        telling.phase("the verdict")
    return out.getvalue()


def test_a_pipe_gets_plain_lines_and_the_last_count() -> None:
    said = _spoken(terminal=False)
    assert "\x1b" not in said
    assert "the crowd comes …" in said
    assert "10 operations · 1 ok · 9 refused · 0 unknown · 10 buyers expected" in said
    assert "cut:redis" in said
    assert "the stand-in is used" in said
    assert said.count("operations ·") <= 2, "at most one line a second, and the last"


def test_a_terminal_keeps_the_finished_phases() -> None:
    said = _spoken(terminal=True)
    assert "✓ the crowd comes" in said.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "the stand-in is used" in said
