"""The command line: what a person or CI types."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from lastseat import options
from lastseat.ending import ended_well
from lastseat.errors import ExitCode

app = typer.Typer(
    name="lastseat",
    help="When everything happens at once and something breaks, does a reservation service still tell the truth?",
    epilog=(
        "Start with [bold]lastseat run[/bold]. Then plant a bug and see it caught: "
        "[bold]lastseat run last_seat_race --mutant oversell-read-write[/bold]. "
        "Exit codes: 0 held · 1 violated · 2 usage · 3 inconclusive · 4 the lab failed, or evidence is not as the run left it."
    ),
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def lastseat(*, version: options.Version = False) -> None:  # noqa: D103 - its help is the app's own
    pass


@app.command(
    epilog="Examples: [bold]lastseat run[/bold] · [bold]lastseat run last_seat_race --seed 7[/bold] · "
    "[bold]lastseat run last_seat_race --mutant oversell-read-write --fault latency:pg=100ms[/bold]"
)
def run(
    scenarios: options.Scenarios = None,
    *,
    pattern: options.Pattern = None,
    only_failed: options.OnlyFailed = False,
    shard: options.Part = None,
    seed: options.Seed = 1,
    repeat: options.Repeat = 1,
    until: options.Ends = options.Until.NEVER,
    profile: options.Profile = options.Length.SMOKE,
    thresholds: options.Thresholds = False,
    mutant: options.MutantInRun = None,
    fault: options.Faults = None,
    barrier: options.Together = True,
    web: options.Web = False,
    invariants: options.Invariants = None,
    runs_dir: options.Runs = Path("runs"),
    database_url: options.DatabaseUrl = None,
    redis_url: options.RedisUrl = None,
    toxiproxy_url: options.ToxiproxyUrl = None,
) -> None:
    """Play scenarios against the service, break things, and judge what was persisted.

    Each run leaves a folder with its evidence, [bold]report.html[/bold], verdict.json, junit.xml and summary.md;
    [bold]runs/latest[/bold] points to the newest.
    """
    with ended_well() as ending:
        from lastseat.choosing import Choice
        from lastseat.playing import play_all
        from lastseat.request import Servers
        from lastseat.room import refuse_without
        from lastseat.wishes import understood

        request = understood(
            choice=Choice(
                names=tuple(scenarios or ()),
                pattern=pattern,
                shard=shard,
                only_failed=only_failed,
                profile=profile.value,
            ),
            seed=seed,
            repeat=repeat,
            until=until,
            thresholds=thresholds,
            mutant=mutant,
            faults=tuple(fault or ()),
            barrier=barrier,
            web=web,
            invariant_folders=tuple(invariants or ()),
            runs=runs_dir,
            servers=Servers(database_url=database_url, redis_url=redis_url, toxiproxy_url=toxiproxy_url),
        )
        refuse_without(runs_dir)
        ending.code = play_all(request)


@app.command(
    epilog="Examples: [bold]lastseat mutants[/bold] · [bold]lastseat mutants 'never-released-*'[/bold] · "
    "[bold]lastseat mutants --section capacity --repeat 10[/bold]"
)
def mutants(
    names: options.Mutants = None,
    *,
    section: options.Section = None,
    seed: options.Seed = 1,
    repeat: options.Seeds = 1,
    reports: options.Drawn = False,
    markdown: options.Page = None,
    runs_dir: options.Runs = Path("runs"),
    database_url: options.DatabaseUrl = None,
    redis_url: options.RedisUrl = None,
    toxiproxy_url: options.ToxiproxyUrl = None,
) -> None:
    """Plant each real-world bug, play the scenario that provokes it, and print who caught it: the proof of the bench.

    Each scenario is also played without a bug, where nothing may be found. Ends with 1 where a bug survives or is not
    caught by every invariant that it names, or a healthy run raised an alarm; with 3 where a run proved nothing.
    """
    with ended_well() as ending:
        from lastseat.proving import challenge, prove
        from lastseat.request import Servers
        from lastseat.room import refuse_without
        from lastseat.track_record import refuse_unwritable
        from reports import write_index

        if markdown is not None:
            refuse_unwritable(markdown)
        wanted = challenge(
            patterns=tuple(names or ()),
            section=section,
            seed=seed,
            repeat=repeat,
            runs=runs_dir,
            servers=Servers(database_url=database_url, redis_url=redis_url, toxiproxy_url=toxiproxy_url),
            drawn=reports,
            page=markdown,
        )
        refuse_without(runs_dir)
        ending.code = prove(wanted)
        with suppress(OSError):  # a page that cannot be written must not hide who caught what
            write_index(runs_dir)


@app.command(name="list")
def list_everything() -> None:
    """List the scenarios, the invariants, the planted bugs and the faults."""
    with ended_well():
        from lastseat.listing import print_lists

        print_lists()


@app.command(epilog="Example: [bold]lastseat check runs/latest[/bold]")
def check(
    run_folder: options.RunFolder = Path("runs/latest"),
    *,
    invariants: options.Invariants = None,
    unsealed: options.Unsealed = False,
) -> None:
    """Judge a run again from its folder alone, offline, and compare the verdict with the one that is there.

    Ends with the code of the computed verdict; with 4 where the evidence or its seal is not as the run left it, where
    verdict.json cannot be read, or where it differs though no rule has changed. A missing verdict.json is only said.
    """
    with ended_well() as ending:
        from lastseat.rejudging import check_again

        ending.code = check_again(run_folder, tuple(invariants or ()), unsealed=unsealed)


@app.command(epilog="Example: [bold]lastseat report runs/latest[/bold]")
def report(run_folder: options.RunFolder = Path("runs/latest")) -> None:
    """Write the report of a run again from its folder: report.html, junit.xml, summary.md."""
    with ended_well():
        from lastseat.rejudging import report_again

        report_again(run_folder)


@app.command()
def doctor(*, clean: options.Clean = False, runs_dir: options.Runs = Path("runs")) -> None:
    """Say whether everything that the lab needs is here, and what to do about what is not."""
    with ended_well() as ending:
        from lastseat.examination import clean_up, print_examination

        if clean:
            clean_up()
        ending.code = ExitCode.VALID if print_examination(runs_dir) else ExitCode.LAB_FAILED


@app.command(epilog="Example: [bold]lastseat prune --keep 20[/bold]")
def prune(*, keep: options.Keep = 10, runs_dir: options.Runs = Path("runs")) -> None:
    """Remove old runs that passed, and old runs of `lastseat mutants`; the newest stay, and every other run that did not pass."""
    with ended_well():
        from lastseat.pruning import prune as remove_runs

        remove_runs(runs_dir, keep=keep)


@app.command(epilog="Example: [bold]lastseat up[/bold], then type the curl lines it prints. Ctrl-C ends it.")
def up(
    *,
    json: options.AsJson = False,
    mutant: options.MutantUp = None,
    runs_dir: options.Runs = Path("runs"),
    database_url: options.DatabaseUrl = None,
    redis_url: options.RedisUrl = None,
) -> None:
    """Start the lab and the service and leave them up until Ctrl-C, for a person with curl."""
    with ended_well():
        from lastseat.request import Servers
        from lastseat.room import refuse_without
        from lastseat.up import stay_up

        refuse_without(runs_dir)
        servers = Servers(database_url=database_url, redis_url=redis_url)
        stay_up(runs_dir, servers=servers, mutant=mutant, as_json=json)
