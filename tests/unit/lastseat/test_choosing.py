"""Which scenarios are played: by name, by pattern, by shard, and those that failed last time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lastseat.choosing import Choice, choose, shard
from lastseat.errors import UsageError
from lastseat.folder import Mark, write_mark
from scenarios import registry

if TYPE_CHECKING:
    from pathlib import Path


def chosen(runs: Path, *, mutant: str | None = None, **choice: object) -> tuple[str, ...]:
    return choose(Choice(**choice), runs=runs, mutant=mutant).names  # type: ignore[arg-type]  # a test may choose anything


def ran(
    runs: Path, scenario: str, stamp: str, judgement: str | None, *, season: str | None = None, **mark: str
) -> None:
    folder = runs / scenario / stamp
    (folder / "logs").mkdir(parents=True)
    write_mark(folder, Mark(**{"season": season or stamp, "profile": "smoke", **mark}))
    if judgement is not None:
        (folder / "verdict.json").write_text(f'{{"judgement": "{judgement}"}}')


def again(runs: Path, **choice: object) -> tuple[str, ...]:
    return chosen(runs, names=("redis_outage",), only_failed=True, **choice)


def test_without_a_wish_all_are_played(tmp_path: Path) -> None:
    assert chosen(tmp_path) == registry.names()


@pytest.mark.parametrize("pattern", ["redis", "redis_*"])
def test_a_pattern_is_a_part_of_a_name_or_a_glob(tmp_path: Path, pattern: str) -> None:
    names = chosen(tmp_path, pattern=pattern)
    assert "redis_outage" in names
    assert all("redis" in name for name in names)


def test_a_glob_is_about_the_whole_name(tmp_path: Path) -> None:
    assert "boot_without_redis" in chosen(tmp_path, pattern="redis")
    assert "boot_without_redis" not in chosen(tmp_path, pattern="redis_*")


def test_a_pattern_that_nothing_matches_is_answered_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"No scenario matches 'mongo'.*last_seat_race"):
        choose(Choice(pattern="mongo"), runs=tmp_path, mutant=None)


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 40])
def test_the_shards_are_the_whole_and_no_scenario_is_in_two(tmp_path: Path, parts: int) -> None:
    dealt = [name for place in range(parts) for name in chosen(tmp_path, shard=f"{place + 1}/{parts}")]
    assert sorted(dealt) == list(registry.names())


def test_a_shard_is_the_same_every_time_and_about_as_large_as_any_other(tmp_path: Path) -> None:
    sizes = {len(chosen(tmp_path, shard=f"{place}/5")) for place in range(1, 6)}
    assert max(sizes) - min(sizes) <= 1
    assert chosen(tmp_path, shard="2/5") == chosen(tmp_path, shard="2/5")


def test_a_shard_deals_what_was_asked_for(tmp_path: Path) -> None:
    names = ("redis_outage", "node_kill")
    assert chosen(tmp_path, names=names, shard="2/2") == ("node_kill",)
    empty = choose(Choice(names=names, shard="3/3"), runs=tmp_path, mutant=None)
    assert (empty.names, empty.said) == ((), ("Shard 3 of 3: none of 2 scenarios.",))


@pytest.mark.parametrize(
    "spelled", ["0/3", "4/3", "3", "1/0", "a/b", "1/3/3", "-1/3", "", "1.5/3", "1/99999"]
)
def test_what_is_no_share_is_refused(spelled: str) -> None:
    with pytest.raises(UsageError, match="no share"):
        shard(spelled)


@pytest.mark.parametrize(
    ("judgement", "names"),
    [
        ("valid", ()),
        ("invalid", ("redis_outage",)),
        ("unknown", ("redis_outage",)),
        (None, ("redis_outage",)),
    ],
)
def test_only_what_was_not_valid_is_played_again(
    tmp_path: Path, judgement: str | None, names: tuple[str, ...]
) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", judgement)
    assert again(tmp_path) == names


def test_what_was_never_played_has_not_held(tmp_path: Path) -> None:
    assert chosen(tmp_path, only_failed=True) == registry.names()
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", "valid")
    assert set(registry.names()) - set(chosen(tmp_path, only_failed=True)) == {"redis_outage"}


@pytest.mark.parametrize("worst", ["invalid", "unknown", None])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_of_repeats_in_one_command_the_worst_counts(tmp_path: Path, worst: str | None, place: int) -> None:
    for repeat in (1, 2, 3):
        said = worst if repeat == place else "valid"
        ran(tmp_path, "redis_outage", f"2026-01-01T00-00-0{repeat}Z", said, season="repeats")
    assert again(tmp_path) == ("redis_outage",)


def test_what_an_earlier_command_found_is_over_once_a_later_one_held(tmp_path: Path) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-01Z", "invalid", season="first")
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-02Z", None, season="first")
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-03Z", "valid", season="second")
    assert again(tmp_path) == ()


def test_another_profile_says_nothing_of_this_one(tmp_path: Path) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", "invalid", profile="full")
    ran(tmp_path, "redis_outage", "2026-01-02T00-00-00Z", "valid")
    assert again(tmp_path) == ()
    assert again(tmp_path, profile="full") == ("redis_outage",)


def test_a_folder_that_does_not_tell_what_it_is_says_nothing(tmp_path: Path) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", "valid")
    (tmp_path / "redis_outage" / "2026-01-01T00-00-00Z" / "turn.json").write_text("{")
    assert again(tmp_path) == ("redis_outage",)


def test_the_newest_run_decides(tmp_path: Path) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", "invalid")
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z-10", "valid")
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z-9", "invalid")
    assert again(tmp_path) == ()


def test_a_planted_bug_that_was_caught_is_no_failure_of_the_healthy_service(tmp_path: Path) -> None:
    ran(tmp_path, "redis_outage", "2026-01-01T00-00-00Z", "valid")
    ran(tmp_path, "redis_outage", "2026-01-02T00-00-00Z", "invalid", mutant="oversell-read-write")
    assert again(tmp_path) == ()
    assert again(tmp_path, mutant="oversell-read-write") == ("redis_outage",)


def test_it_is_said_when_nothing_failed(tmp_path: Path) -> None:
    ran(tmp_path, "node_kill", "2026-01-01T00-00-00Z", "valid")
    nothing = choose(Choice(names=("node_kill",), only_failed=True), runs=tmp_path, mutant=None)
    assert nothing.names == ()
    (said,) = nothing.said
    assert said.startswith("Of 1 scenario, none failed in the newest command that played them")


def test_what_failed_is_looked_for_within_the_shard(tmp_path: Path) -> None:
    for place, name in enumerate(registry.names()):
        ran(tmp_path, name, "2026-01-01T00-00-00Z", "invalid" if place < 4 else "valid")
    assert chosen(tmp_path, shard="1/2", only_failed=True) == registry.names()[:4:2]


def test_a_scenario_without_the_profile_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("scenarios.stories.node_kill.FULL")
    chosen_ = choose(Choice(pattern="node", profile="full"), runs=tmp_path, mutant=None)
    assert "node_kill" not in chosen_.names
    assert chosen_.said == ("Left out, as they have no full profile: node_kill.",)
