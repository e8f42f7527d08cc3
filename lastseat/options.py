"""The options and arguments that commands share, each with its help."""

from __future__ import annotations

from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

SEED_MAX = 2**63 - 1
"""Chance is drawn from 64 bits of seed; see scenarios.chance."""
REPEAT_MAX = 10_000


def _seed(spelled: str) -> int:
    """Read a seed. A range of the framework's own would fill the help with its nineteen digits."""
    return _whole(spelled, 0, SEED_MAX)


def _times(spelled: str) -> int:
    """Read how often."""
    return _whole(spelled, 1, REPEAT_MAX)


def _whole(spelled: str, least: int, most: int) -> int:
    # The default comes here as the number that it is.
    text = str(spelled)
    if not (text.isascii() and text.isdigit()) or not least <= int(text) <= most:
        raise typer.BadParameter(f"{text!r} is not a whole number from {least} to {most}.")
    return int(text)


class Length(StrEnum):
    """The profiles there are."""

    SMOKE = "smoke"
    FULL = "full"


class Until(StrEnum):
    """What ends the repeats of a scenario before their number is reached; `failed` is whatever is not valid."""

    NEVER = "never"
    INVALID = "violated"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


def _profile(spelled: str) -> Length:
    """Read a profile."""
    return Length(_one_of(spelled, tuple(Length)))


def _until(spelled: str) -> Until:
    """Read what ends repeats."""
    return Until(_one_of(_AS_TOLD.get(spelled, spelled), tuple(Until)))


def _one_of(spelled: str, there: tuple[str, ...]) -> str:
    # The framework's own words begin with `Value error`.
    if str(spelled) not in there:
        raise typer.BadParameter(f"{spelled!r} is none of {', '.join(there)}.")
    return str(spelled)


def _some(spelled: str) -> str:
    """Read a pattern; an empty one is in every name, and so means nothing."""
    if not spelled.strip():
        raise typer.BadParameter("an empty pattern would be in every name. Leave -k out to play all of them.")
    return spelled


_AS_TOLD = {"invalid": "violated", "unknown": "inconclusive"}
"""The words of verdict.json, and those that people are told."""


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"lastseat {version('lastseat')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version, and end.")
]
Runs = Annotated[
    Path,
    typer.Option("--runs-dir", envvar="LASTSEAT_RUNS", help="Where run folders are kept.", file_okay=False),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/latest.")]
Invariants = Annotated[
    list[Path] | None,
    typer.Option(
        "--invariants",
        help="A folder of your own invariants (.sql or .py); may be repeated.",
        file_okay=False,
    ),
]
Unsealed = Annotated[
    bool,
    typer.Option(
        "--unsealed",
        help="Judge a folder whose seal.json is gone as it is; nobody can tell then whether it is as the run left it.",
    ),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url", envvar="LASTSEAT_DATABASE_URL", help="A PostgreSQL that is already there."
    ),
]
RedisUrl = Annotated[
    str | None,
    typer.Option("--redis-url", envvar="LASTSEAT_REDIS_URL", help="A Redis or Valkey that is already there."),
]
ToxiproxyUrl = Annotated[
    str | None,
    typer.Option(
        "--toxiproxy-url", envvar="LASTSEAT_TOXIPROXY_URL", help="A Toxiproxy that is already there."
    ),
]
Scenarios = Annotated[
    list[str] | None,
    typer.Argument(metavar="SCENARIO", help="Which to play; without a name, all of them."),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "-k",
        metavar="PATTERN",
        parser=_some,
        help="Only scenarios whose name holds this, or matches it: redis, '*_kill'.",
    ),
]
OnlyFailed = Annotated[
    bool,
    typer.Option(
        "--only-failed",
        help="Only scenarios that did not hold in every run of the newest command that played them, with the same profile and planted bug, or that were never played.",
    ),
]
Part = Annotated[
    str | None,
    typer.Option(
        "--shard", metavar="I/N", help="Only the I-th of N parts of the scenarios, for CI jobs: 1/3."
    ),
]
Repeat = Annotated[
    int,
    typer.Option(
        metavar="N",
        parser=_times,
        help="Play each scenario so many times with the same seed, and say how often each finding came back.",
    ),
]
Ends = Annotated[
    Until,
    typer.Option(
        "--until",
        metavar="WHAT",
        parser=_until,
        help="End the repeats of a scenario as soon as one of its runs is this: violated, inconclusive, failed (either), never.",
    ),
]
Profile = Annotated[
    Length,
    typer.Option(
        metavar="smoke|full",
        parser=_profile,
        help="A few seconds each, or longer and heavier: smoke or full.",
    ),
]
Thresholds = Annotated[
    bool,
    typer.Option(
        "--thresholds", help="Judge thresholds in smoke too, where they are otherwise only reported."
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", parser=_seed, help="Fixes arrivals, choices and fault times.")
]
MutantInRun = Annotated[
    str | None,
    typer.Option("--mutant", help="Plant this real-world bug in the service first; see `lastseat list`."),
]
MutantUp = Annotated[
    str | None, typer.Option("--mutant", help="Plant this real-world bug in the service first.")
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        help="Break a link, a process or a provider, at a time or for the whole load, e.g. latency:pg=100ms or kill:node-a@2s+1s; `lastseat list` tells more. May be repeated.",
    ),
]
Together = Annotated[
    bool,
    typer.Option("--barrier/--no-barrier", help="Release the buyers of a race together, or one by one."),
]
Web = Annotated[
    bool,
    typer.Option(
        "--web", help="Show Locust's own page on 127.0.0.1 while a load lasts, to be looked at and no more."
    ),
]
Keep = Annotated[int, typer.Option(help="How many of the newest runs stay, whatever they said.", min=0)]
Clean = Annotated[
    bool, typer.Option("--clean", help="First remove what labs that were killed have left behind.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object with all addresses, and nothing else.")
]
Mutants = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", help="Which planted bugs to play, by name or glob; without one, all of them."
    ),
]
Section = Annotated[
    str | None,
    typer.Option("--section", metavar="SECTION", help="Only bugs of this section: capacity, holds …"),
]
Seeds = Annotated[
    int,
    typer.Option(
        "--repeat",
        metavar="N",
        parser=_times,
        help="Play each bug that is named, or bites only where requests meet, with so many seeds.",
    ),
]
Drawn = Annotated[bool, typer.Option("--reports", help="Draw the report of each run, too.")]
Page = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Also write the matrix as a page.", dir_okay=False),
]
