"""Which scenarios a person meant: by name, by pattern, by what failed, and the share of one of several CI jobs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from checker.verdict import Judgement
from lastseat.errors import UsageError
from lastseat.folder import of_scenario, read_mark
from reports.wording import counted
from scenarios import registry

if TYPE_CHECKING:
    from pathlib import Path

    from scenarios.scenario import Profile

_SHARD = re.compile(r"(\d{1,4})/(\d{1,4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How scenarios are picked; `shard` is spelled `1/3`."""

    names: tuple[str, ...] = ()
    pattern: str | None = None
    shard: str | None = None
    only_failed: bool = False
    profile: Profile = "smoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The scenarios picked, which may be none, and what is to be said of those left out."""

    names: tuple[str, ...]
    said: tuple[str, ...] = ()


class _Judged(msgspec.Struct, frozen=True):
    judgement: Judgement


def choose(choice: Choice, *, runs: Path, mutant: str | None) -> Chosen:
    """Pick scenarios. Raises UsageError where a name, a pattern or a shard means nothing.

    Shares are dealt before it is looked at what failed, so that a scenario belongs to the same job every time.
    """
    names = tuple(dict.fromkeys(choice.names)) or registry.names()
    said: list[str] = []
    if choice.pattern is not None:
        names = matching(choice.pattern, names)
    lacking = [name for name in names if name in registry.names() and not registry.has(name, choice.profile)]
    if lacking and not set(lacking) & set(choice.names):
        said.append(f"Left out, as they have no {choice.profile} profile: {', '.join(lacking)}.")
        names = tuple(name for name in names if name not in lacking)
    if choice.shard is not None:
        place, parts = shard(choice.shard)
        many = len(names)
        names = names[place - 1 :: parts]
        said.append(f"Shard {place} of {parts}: {len(names) or 'none'} of {counted(many, 'scenario')}.")
    if choice.only_failed and names:
        many = len(names)
        names = tuple(name for name in names if failed(runs, name, choice.profile, mutant))
        said.append(
            f"Of {counted(many, 'scenario')}, {len(names) or 'none'} failed in the newest command "
            f"that played them in {runs}, or were never played there."
        )
    return Chosen(names=names, said=tuple(said))


def matching(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that hold the pattern or match it as a glob; raises UsageError where none does."""
    found = tuple(name for name in names if pattern in name or fnmatchcase(name, pattern))
    if not found:
        raise UsageError(
            f"No scenario matches {pattern!r}; there are: {', '.join(names)}.",
            remedy="A pattern is a part of a name, or a glob such as 'redis_*'.",
        )
    return found


def shard(spelled: str) -> tuple[int, int]:
    """Read `2/3`; raises UsageError for what is no share."""
    match = _SHARD.fullmatch(spelled)
    place, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= place <= parts:
        raise UsageError(
            f"--shard {spelled!r} is no share of the scenarios.",
            remedy="Write I/N with I from 1 to N: the second of three CI jobs takes 2/3.",
        )
    return place, parts


def failed(runs: Path, scenario: str, profile: str, mutant: str | None) -> bool:
    """Tell whether any run of a scenario was not valid in the newest command that played it so, or none has played it.

    So is: in that profile, with that planted bug or none. A run without a verdict was not valid.
    """
    marked = ((folder, read_mark(folder)) for folder in of_scenario(runs, scenario))
    alike = [
        (folder, mark.season)
        for folder, mark in marked
        if mark and (mark.profile, mark.mutant) == (profile, mutant)
    ]
    newest = alike[0][1] if alike else None
    return not alike or any(season == newest and not _held(folder) for folder, season in alike)


def _held(folder: Path) -> bool:
    try:
        judged = msgspec.json.decode((folder / "verdict.json").read_bytes(), type=_Judged)
    except (OSError, msgspec.MsgspecError):
        return False
    return judged.judgement is Judgement.VALID
