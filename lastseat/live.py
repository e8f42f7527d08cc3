"""What a person sees while a run is under way: phases, progress, outcomes, active faults."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.control import Tally

PLAIN_SECONDS_BETWEEN = 1.0


class Progress(Protocol):
    """What a run tells as it goes."""

    def phase(self, words: str) -> None:
        """Begin the next phase, ending the one before."""

    def load(self, tally: Tally, *, arrivals: int) -> None:
        """Say how far the load is: how many of all arrivals are through, and how operations ended."""

    def faults(self, active: tuple[str, ...]) -> None:
        """Say which faults are in force right now."""

    def detail(self, words: str) -> None:
        """Say where the present phase stands; forgotten with the phase."""

    def result(self, words: str) -> None:
        """Say how a scenario ended, as soon as it has."""

    def notice(self, words: str) -> None:
        """Say something that should stay on the screen."""


class Plain:
    """One line per phase, and one a second of load: for logs, pipes and CI."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._spoke = 0.0
        self._counts = ""
        self._faults: tuple[str, ...] = ()

    def phase(self, words: str) -> None:
        """Print the phase, after the last counts of the one before."""
        self._say_counts()
        self._console.print(f"  {words} …", highlight=False, soft_wrap=True)
        self._spoke = 0.0

    def load(self, tally: Tally, *, arrivals: int) -> None:
        """Print the counts, at most once a second, and the last of them."""
        self._counts = f"{_counts(tally)} · {tally.through:,} of {arrivals:,} buyers expected are through"
        if time.monotonic() - self._spoke >= PLAIN_SECONDS_BETWEEN:
            self._say_counts()

    def faults(self, active: tuple[str, ...]) -> None:
        """Print the faults in force, when they have changed."""
        if active != self._faults:
            self._faults = active
            self._console.print(
                f"    faults in force: {', '.join(active) or 'none'}", highlight=False, soft_wrap=True
            )

    def detail(self, words: str) -> None:
        """Print the words."""
        self._console.print(f"    {words}", highlight=False, soft_wrap=True)

    def result(self, words: str) -> None:
        """Print the result."""
        self._console.print(words, highlight=False, soft_wrap=True, markup=False)

    def notice(self, words: str) -> None:
        """Print the notice."""
        self._console.print(f"  ! {words}", style="yellow", highlight=False, soft_wrap=True)

    def _say_counts(self) -> None:
        if self._counts:
            self._console.print(f"    {self._counts}", highlight=False, soft_wrap=True)
        self._counts, self._spoke = "", time.monotonic()


class Screen:
    """A live block on a terminal: finished phases with their times, the present one with a bar."""

    def __init__(self, console: Console, live: Live) -> None:
        self._console = console
        self._live = live
        self._words = ""
        self._since = time.monotonic()
        self._share = (0, 0)
        self._counts = ""
        self._faults: tuple[str, ...] = ()
        self._detail = ""
        self._spinner = Spinner("dots")

    def phase(self, words: str) -> None:
        """Leave the finished phase on the screen with its time, and show the next."""
        self._finish()
        self._words, self._since, self._counts, self._detail = words, time.monotonic(), "", ""
        self._draw()

    def load(self, tally: Tally, *, arrivals: int) -> None:
        """Move the bar."""
        self._share, self._counts = (tally.through, arrivals), _counts(tally)
        self._draw()

    def faults(self, active: tuple[str, ...]) -> None:
        """Show the faults in force."""
        self._faults = active
        self._draw()

    def detail(self, words: str) -> None:
        """Show the words below the phase."""
        self._detail = words
        self._draw()

    def result(self, words: str) -> None:
        """Print the result above the live block: it falls while the next scenario is under way."""
        self._leave(Text(words, style="bold"))

    def notice(self, words: str) -> None:
        """Print a line above the live block."""
        self._console.print(Text(f"  ! {words}", style="yellow"))

    def end(self) -> None:
        """Take the live block away."""
        self._finish()
        self._words = ""
        self._live.update(Text(""))

    def _finish(self) -> None:
        if not self._words:
            return
        line = Text.assemble(
            ("  ✓ ", "green"), self._words, (f"  {time.monotonic() - self._since:.1f} s", "dim")
        )
        apart = line.cell_len + 2 + len(self._counts) > self._console.width
        if self._counts and not apart:
            line.append(f"  {self._counts}", style="dim")
        self._leave(line)
        if self._counts and apart:
            self._leave(_line(f"    {self._counts}", "dim"))

    def _leave(self, line: Text) -> None:
        """Print one line above the live block; cut, not wrapped, and Rich forgets that of a text by itself."""
        self._console.print(line, no_wrap=True, overflow="ellipsis")

    def _draw(self) -> None:
        head = Table.grid(padding=(0, 1))
        self._spinner.update(text=_line(self._words))
        head.add_row(Text(" "), self._spinner)
        rows: list[Table | Text | ProgressBar] = [head]
        if self._counts:
            through, arrivals = self._share
            bar = Table.grid(padding=(0, 1))
            bar.add_row(Text("   "), ProgressBar(total=arrivals, completed=min(through, arrivals), width=30))
            rows += [bar, _line(f"    {self._counts}")]
        if self._faults:
            rows.append(_line(f"    in force: {', '.join(self._faults)}", "red"))
        if self._detail:
            rows.append(_line(f"    {self._detail}", "dim"))
        self._live.update(Group(*rows))


def _line(words: str, style: str = "") -> Text:
    """Return one line that is cut rather than wrapped: what moves under the eye must keep its height."""
    return Text(words, style=style, no_wrap=True, overflow="ellipsis")


def _counts(tally: Tally) -> str:
    return f"{tally.done:,} operations · {tally.ok:,} ok · {tally.fail:,} refused · {tally.info:,} unknown"


@contextmanager
def progress(console: Console) -> Iterator[Progress]:
    """Yield what suits this console: a live block on a terminal, plain lines elsewhere."""
    if not console.is_terminal:
        yield Plain(console)
        return
    with Live(console=console, refresh_per_second=10, transient=True) as live:
        screen = Screen(console, live)
        try:
            yield screen
        finally:
            screen.end()
