"""What cannot be played is refused before anything starts, with the names that there are."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lastseat.choosing import Choice
from lastseat.cli import app
from lastseat.errors import ExitCode, UsageError
from lastseat.options import Until
from lastseat.request import Servers
from lastseat.wishes import understood
from scenarios import registry

WISH: dict[str, Any] = {
    "choice": Choice(names=("last_seat_race",)),
    "seed": 1,
    "mutant": None,
    "faults": (),
    "barrier": True,
    "invariant_folders": (),
    "runs": Path("runs"),
    "servers": Servers(),
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"choice": Choice(names=("first_seat_race",))}, "There are: boot_without_redis"),
        ({"choice": Choice(names=("last_seat_rase",))}, "Did you mean 'last_seat_race'?"),
        ({"choice": Choice(names=("redis-outage",))}, "Did you mean 'redis_outage'?"),
        ({"mutant": "nonsense"}, "`lastseat list` tells"),
        ({"mutant": "oversel_read_write"}, "Did you mean 'oversell-read-write'?"),
        ({"faults": ("latncy:pg=100ms",)}, "Did you mean 'latency'?"),
        ({"until": Until.INVALID}, "--repeat N"),
        ({"faults": ("latency:pg",)}, "latency"),
        ({"faults": ("latency:moon=100ms",)}, "pg-a"),
        ({"faults": ("earthquake:pg=1ms",)}, "earthquake"),
        ({"invariant_folders": (Path("/nowhere"),)}, "/nowhere"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        understood(**{**WISH, **changed})
    assert said in str(refused.value)


def test_no_name_means_every_scenario() -> None:
    assert "last_seat_race" in understood(**{**WISH, "choice": Choice()}).names


def test_a_name_said_twice_is_played_once() -> None:
    assert understood(**{**WISH, "choice": Choice(names=("last_seat_race",) * 2)}).names == (
        "last_seat_race",
    )


def test_the_command_in_the_report_plays_the_same_run_again() -> None:
    request = understood(
        **{
            **WISH,
            "seed": 7,
            "mutant": "oversell-read-write",
            "faults": ("latency:pg=100ms",),
            "barrier": False,
            "choice": Choice(names=("last_seat_race",), profile="full"),
            "thresholds": True,
        }
    )
    assert request.command("last_seat_race") == (
        "lastseat run last_seat_race --seed 7 --profile full --thresholds --mutant oversell-read-write "
        "--fault latency:pg=100ms --no-barrier"
    )


def test_the_command_in_the_report_holds_no_url() -> None:
    secret = Servers(database_url="postgresql://u:sesame@127.0.0.1/x")
    assert "sesame" not in understood(**{**WISH, "servers": secret}).command("last_seat_race")


@pytest.mark.parametrize("seed", ["-1", str(2**63), "9" * 40, "one", ""])
def test_a_seed_that_chance_cannot_be_drawn_from_is_refused_at_once(seed: str, tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["run", "last_seat_race", "--seed", seed, "--runs-dir", str(tmp_path)])
    assert refused.exit_code == ExitCode.USAGE
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("times", ["0", "-1", "10001", "often", "1e3"])
def test_repeats_that_cannot_be_are_refused(times: str, tmp_path: Path) -> None:
    refused = CliRunner().invoke(app, ["run", "--repeat", times, "--runs-dir", str(tmp_path)])
    assert refused.exit_code == ExitCode.USAGE


def test_a_shard_without_a_scenario_says_so_and_is_no_failure(tmp_path: Path) -> None:
    words = ["run", "node_kill", "--shard", "2/2", "--runs-dir", str(tmp_path)]
    empty = CliRunner().invoke(app, words)
    assert empty.exit_code == ExitCode.VALID
    assert "Shard 2 of 2: none of 1 scenario." in empty.output
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_told() -> None:
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"lastseat {version('lastseat')}\n")


OWN = """\
-- name: own
-- sentence: All is well.
-- needs: state
-- rests on: nothing
-- catches: nothing

-- looked at
SELECT count(*) FROM state.holds;

-- counter-examples
SELECT colour FROM state.holds;
"""


def test_an_invariant_of_ones_own_that_names_a_column_there_is_not_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.sql").write_text(OWN)
    words = ["run", "node_kill", "--invariants", str(tmp_path / "mine"), "--runs-dir", str(tmp_path / "runs")]
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == ExitCode.USAGE
    assert "colour" in refused.output
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("option", "url"),
    [
        ("--database-url", "postgresql://u:sesame@192.0.2.1/x"),
        ("--redis-url", "http://127.0.0.1:1"),
        ("--toxiproxy-url", "nonsense"),
    ],
)
def test_a_server_that_may_not_be_used_is_told_before_anything_is_made(
    option: str, url: str, tmp_path: Path
) -> None:
    refused = CliRunner().invoke(app, ["run", "node_kill", option, url, "--runs-dir", str(tmp_path)])
    assert refused.exit_code == ExitCode.USAGE
    assert option in refused.output
    assert "the lab" not in refused.output
    assert "sesame" not in refused.output
    assert list(tmp_path.iterdir()) == []


def test_up_takes_no_proxy_as_it_lays_no_link_through_one() -> None:
    refused = CliRunner().invoke(app, ["up", "--toxiproxy-url", "http://127.0.0.1:8474"])
    assert refused.exit_code == ExitCode.USAGE


def test_faults_that_clash_with_a_story_are_refused_before_anything_starts_naming_all_such_stories() -> None:
    asked = {**WISH, "faults": ("cut:redis",), "choice": Choice()}
    with pytest.raises(UsageError, match="cannot be played together") as refused:
        understood(**asked)
    said = str(refused.value)
    own = [
        name
        for name in registry.names()
        if any(
            planned.fault.kind == "cut" and planned.fault.where == "redis"
            for planned in registry.find(name).faults
        )
    ]
    assert own
    assert all(f"  {name}: " in said for name in own)
    assert "last_seat_race" not in said


@pytest.mark.parametrize("name", registry.names())
def test_no_story_clashes_with_itself(name: str) -> None:
    assert understood(**{**WISH, "choice": Choice(names=(name,))}).names == (name,)
