"""The command line: what a person or CI types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lastseat.ending import ended_well
from lastseat.errors import ExitCode

app = typer.Typer(
    name="lastseat",
    help="When everything happens at once and something breaks, does a reservation service still tell the truth?",
    epilog=(
        "Start with [bold]lastseat run[/bold]. Then plant a bug and see it caught: "
        "[bold]lastseat run last_seat_race --mutant oversell-read-write[/bold]. "
        "Exit codes: 0 valid · 1 an invariant was violated · 2 usage · 3 inconclusive · 4 the lab failed."
    ),
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SEED_MAX = 2**63 - 1
"""Chance is drawn from 64 bits of seed; see scenarios.chance."""

Runs = Annotated[
    Path,
    typer.Option("--runs-dir", envvar="LASTSEAT_RUNS", help="Where run folders are kept.", file_okay=False),
]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, such as runs/latest.")]
Invariants = Annotated[
    list[Path] | None,
    typer.Option(
        "--invariants", help="A folder of your own invariants (.sql); may be repeated.", file_okay=False
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


@app.command(
    epilog="Examples: [bold]lastseat run[/bold] · [bold]lastseat run last_seat_race --seed 7[/bold] · "
    "[bold]lastseat run last_seat_race --mutant oversell-read-write --fault latency:pg=100ms[/bold]"
)
def run(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SCENARIO]...", help="Which to play; without a name, all of them."),
    ] = None,
    *,
    seed: Annotated[
        int, typer.Option(help="Fixes arrivals, choices and fault times.", min=0, max=SEED_MAX)
    ] = 1,
    mutant: Annotated[
        str | None, typer.Option(help="Plant this real-world bug in the service first; see `lastseat list`.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Break a link for the whole load, e.g. latency:pg=100ms; may be repeated."),
    ] = None,
    barrier: Annotated[
        bool,
        typer.Option("--barrier/--no-barrier", help="Release the buyers of a race together, or one by one."),
    ] = True,
    invariants: Invariants = None,
    runs_dir: Runs = Path("runs"),
    database_url: DatabaseUrl = None,
    redis_url: RedisUrl = None,
    toxiproxy_url: ToxiproxyUrl = None,
) -> None:
    """Play scenarios against the service, break things, and judge what was persisted.

    Each run leaves a folder with its evidence, [bold]report.html[/bold], verdict.json, junit.xml and summary.md;
    [bold]runs/latest[/bold] points to the newest.
    """
    with ended_well() as ending:
        from lastseat.playing import play_all
        from lastseat.request import Servers
        from lastseat.wishes import understood

        request = understood(
            names=tuple(scenarios or ()),
            seed=seed,
            mutant=mutant,
            faults=tuple(fault or ()),
            barrier=barrier,
            invariant_folders=tuple(invariants or ()),
            runs=runs_dir,
            servers=Servers(database_url=database_url, redis_url=redis_url, toxiproxy_url=toxiproxy_url),
        )
        ending.code = play_all(request)


@app.command(name="list")
def list_everything() -> None:
    """List the scenarios, the invariants, the planted bugs and the faults."""
    with ended_well():
        from lastseat.listing import print_lists

        print_lists()


@app.command(epilog="Example: [bold]lastseat check runs/latest[/bold]")
def check(run_folder: RunFolder = Path("runs/latest"), *, invariants: Invariants = None) -> None:
    """Judge a run again from its folder alone, offline; the verdict must agree with the one that is there."""
    with ended_well() as ending:
        from lastseat.rejudging import check_again

        ending.code = check_again(run_folder, tuple(invariants or ()))


@app.command(epilog="Example: [bold]lastseat report runs/latest[/bold]")
def report(run_folder: RunFolder = Path("runs/latest")) -> None:
    """Write the report of a run again from its folder: report.html, junit.xml, summary.md."""
    with ended_well():
        from lastseat.rejudging import report_again

        report_again(run_folder)


@app.command()
def doctor(
    *,
    clean: Annotated[
        bool, typer.Option("--clean", help="First remove what labs that were killed have left behind.")
    ] = False,
    runs_dir: Runs = Path("runs"),
) -> None:
    """Say whether everything that the lab needs is here, and what to do about what is not."""
    with ended_well() as ending:
        from lastseat.examination import clean_up, print_examination

        if clean:
            clean_up()
        ending.code = ExitCode.VALID if print_examination(runs_dir) else ExitCode.LAB_FAILED


@app.command(epilog="Example: [bold]lastseat prune --keep 20[/bold]")
def prune(
    *,
    keep: Annotated[
        int, typer.Option(help="How many of the newest runs stay, whatever they said.", min=0)
    ] = 10,
    runs_dir: Runs = Path("runs"),
) -> None:
    """Remove old runs that passed; the newest stay, and every run that failed or proved nothing."""
    with ended_well():
        from lastseat.pruning import prune as remove_runs

        remove_runs(runs_dir, keep=keep)


@app.command(epilog="Example: [bold]lastseat up[/bold], then type the curl lines it prints. Ctrl-C ends it.")
def up(
    *,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all addresses, and nothing else.")
    ] = False,
    mutant: Annotated[
        str | None, typer.Option(help="Plant this real-world bug in the service first.")
    ] = None,
    runs_dir: Runs = Path("runs"),
    database_url: DatabaseUrl = None,
    redis_url: RedisUrl = None,
    toxiproxy_url: ToxiproxyUrl = None,
) -> None:
    """Start the lab and the service and leave them up until Ctrl-C, for a person with curl."""
    with ended_well():
        from lastseat.request import Servers
        from lastseat.up import stay_up

        servers = Servers(database_url=database_url, redis_url=redis_url, toxiproxy_url=toxiproxy_url)
        stay_up(runs_dir, servers=servers, mutant=mutant, as_json=json)
