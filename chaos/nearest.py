"""What somebody may have meant who misspelled a name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def meant(name: str, there: Iterable[str], *, most: int = 1) -> str:
    """Return a question such as ` Did you mean 'last_seat_race'?`, or nothing where no name is near.

    It names at most so many, the nearest first, then those of which it is a part.

    Words are compared without regard to how they are joined: those of scenarios by `_`, those of planted bugs by `-`.
    """
    joined = {_joined(each): each for each in there}
    near = get_close_matches(_joined(name), joined, n=most, cutoff=0.6)
    if name:
        near += [each for each in sorted(joined) if _joined(name) in each and each not in near]
    near = near[:most]
    return f" Did you mean {' or '.join(repr(joined[each]) for each in near)}?" if near else ""


def _joined(name: str) -> str:
    return name.lower().replace("-", "_")
