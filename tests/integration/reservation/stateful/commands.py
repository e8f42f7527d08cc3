"""What people, administrators and sweepers may do to one resource, as data, and how hypothesis makes it up.

Rows are named by how recently they were made (`pick` 0 is the latest), so that a command means something in every
state and a failing example shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

from hypothesis import strategies as st

OWNERS: Final = 4
NODES: Final = 3  # a plain one, one that decides holds together, and one whose claims on a key lapse at once


class Command:
    """Something to do; shown without what it leaves at its default."""

    def __repr__(self) -> str:
        told = [(field, getattr(self, field.name)) for field in fields(self)]  # type: ignore[arg-type]  # each is a dataclass
        return f"{type(self).__name__}({', '.join(f'{f.name}={v!r}' for f, v in told if v != f.default)})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sent(Command):
    """A command with a key: how many twins of it run side by side, on which node, and after what."""

    node: int = 0
    twins: int = 1
    abandoned: bool = False  # a worker claimed the key and died; its lease is over


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Hold(Sent):
    owner: int = 0
    quantity: int = 1
    behind: int | None = None  # expects the revision that was last seen, less so much


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Join(Sent):
    owner: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Act(Sent):
    """confirm, cancel, accept, decline, leave, give_back: by the row's owner, or by a stranger."""

    what: str = "confirm"
    pick: int = 0
    stranger: bool = False
    behind: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Resize(Sent):
    capacity: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChangePolicy(Sent):
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Close(Sent):
    pass


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Again(Command):
    """An earlier command with its key, as it was or (`altered`) with something else in it."""

    pick: int = 0
    altered: bool = False
    node: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sweep(Command):
    """Ends what is over by then: nothing but lapsed rows, what stands now, or what is promoted by that too."""

    ahead_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Lapse(Command):
    """Lets a live hold's or offer's time be over, without a sweep."""

    what: str = "holds"
    pick: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Look(Command):
    """Judges the invariants amid whatever runs at the same time."""


Step = list[Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A resource, and steps whose commands run at the same time."""

    capacity: int
    limit: int | None
    steps: list[Step]


_ROUTE: Final[dict[str, Any]] = {
    "node": st.integers(0, NODES - 1),
    "twins": st.sampled_from([1, 1, 1, 2]),
    "abandoned": st.sampled_from([False] * 5 + [True]),
}
_OWNER: Final = st.integers(0, OWNERS - 1)
_PICK: Final = st.integers(0, 3)
_BEHIND: Final = st.sampled_from([None, None, 0, 1])

HOLDS: Final = st.builds(
    Hold, owner=_OWNER, quantity=st.sampled_from([1, 1, 1, 2, 3]), behind=_BEHIND, **_ROUTE
)
JOINS: Final = st.builds(Join, owner=_OWNER, **_ROUTE)
_ENDS: Final = ("cancel", "cancel", "confirm", "decline", "accept", "give_back", "leave")
ACTS: Final = st.builds(
    Act,
    what=st.sampled_from(_ENDS),
    pick=_PICK,
    stranger=st.sampled_from([False] * 7 + [True]),
    behind=_BEHIND,
    **_ROUTE,
)
RESIZES: Final = st.builds(Resize, capacity=st.integers(0, 5), **_ROUTE)
SWEEPS: Final = st.builds(Sweep, ahead_seconds=st.sampled_from([0, 0, 31, 61]))
LAPSES: Final = st.builds(Lapse, what=st.sampled_from(["holds", "offers"]), pick=_PICK)
AGAIN: Final = st.builds(
    Again, pick=st.integers(0, 5), altered=st.sampled_from([False] * 3 + [True]), node=_ROUTE["node"]
)
POLICIES: Final = st.builds(ChangePolicy, limit=st.sampled_from([None, 1, 2]), **_ROUTE)
CLOSES: Final = st.builds(Close, **_ROUTE)
# How often each is chosen; hypothesis' own one_of would choose them all alike.
KINDS: Final = (
    *[ACTS] * 9, *[HOLDS] * 4, *[JOINS] * 4, *[RESIZES] * 2, *[SWEEPS] * 2, *[LAPSES] * 2, *[AGAIN] * 2,
    st.just(Look()), POLICIES, CLOSES,
)  # fmt: skip


@st.composite
def _command(draw: st.DrawFn) -> Command:
    return draw(draw(st.sampled_from(KINDS)))


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Make up a small resource and a few steps; most begin with it full and a line before it, or with a race for it."""
    capacity = draw(st.integers(1, 3))
    steps: list[Step] = []
    match draw(st.sampled_from(["full", "full", "full", "race", "race", "empty"])):
        case "full":
            holders = draw(st.lists(_OWNER, min_size=capacity, max_size=capacity))
            node = draw(st.sampled_from([0, 1]))
            steps.append([Hold(owner=owner, node=node) for owner in holders])
            steps.append([Join(owner=owner) for owner in draw(st.lists(_OWNER, min_size=1, max_size=3))])
        case "race":
            behind, node = draw(st.sampled_from([None, 0, 0])), draw(st.sampled_from([0, 0, 1]))
            rivals = draw(st.lists(_OWNER, min_size=2, max_size=5))
            steps.append([Hold(owner=owner, node=node, behind=behind) for owner in rivals])
    steps += draw(st.lists(st.lists(_command(), min_size=1, max_size=4), min_size=1, max_size=6))
    return Example(capacity=capacity, limit=draw(st.sampled_from([None, None, None, 1, 2])), steps=steps)
