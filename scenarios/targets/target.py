"""What the bench must know of a target, as data that travels in the load plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checker.brief import CanonicalTable
    from scenarios.scenario import Sale

Value = str | int
Said = Literal["ok", "fail", "info"]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One address of the target, under the label by which evidence names it."""

    label: str
    host: str
    port: int


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """An answer whose status lies in the range, and whose code is `code` if one is given, means `said`."""

    said: Said
    status: int
    status_max: int | None = None
    code: str | None = None


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a buyer: texts and body may hold `${name}` slots, filled per request.

    A body string that is exactly one slot takes the value with its type. Slots come from the actor's values, the
    subject's values, `key` and whatever the buyer remembers. `subject` is the slot that names what is acted upon;
    `created`, `code` are fields of the answer's JSON; `replay_header` says `true` on a stored answer, and
    `admission_header` by which of the `admissions` a command was let in.
    """

    kind: str
    method: str
    path: str
    headers: dict[str, str] = {}
    body: dict[str, Value | bool | None] | None = None
    subject: str = "resource"
    quantity: int = 1
    created: str | None = None
    code: str | None = "code"
    replay_header: str | None = None
    admission_header: str | None = None
    admissions: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """One person the load acts as: the owner and tenant in the history, and values for slots (a token, say)."""

    owner: str
    tenant: str
    values: dict[str, Value] = {}


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """One thing on sale: its id and values for slots."""

    id: str
    values: dict[str, Value] = {}


class Unsettled(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the service may still owe when the load has ended.

    `query` counts it, given as `$1` the instant (timestamptz) up to which deadlines are waited for. `settled_by` names the
    kind of worker that settles it, without which nobody need wait; None: it settles by itself.
    """

    what: str
    query: str
    settled_by: str | None = None


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """What `prepare` made on the target: everything on sale, and everyone who comes."""

    resources: tuple[Subject, ...]
    actors: tuple[Actor, ...]


class TargetError(Exception):
    """The target could not be prepared, or answered what no rule knows; says which request and answer."""


class Target(Protocol):
    """A service as the bench sees it; implemented by the built-in target and by adapters."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def actions(self) -> Mapping[str, Action]:
        """What buyers can do, by name."""

    @property
    def warm(self) -> Action:
        """A request without effect, answered before a connection takes part in a race."""

    @property
    def tables(self) -> Mapping[str, CanonicalTable]:
        """The canonical evidence tables, as views over its own."""

    @property
    def refusals(self) -> Mapping[str, tuple[str, ...]]:
        """Its codes for the refusals that invariants know by meaning."""

    @property
    def unsettled(self) -> tuple[Unsettled, ...]:
        """What may still be owed after the load, as its own tables tell."""

    @property
    def permits_setting(self) -> str | None:
        """The setting that says how many commands Redis lets in at once, if it is asked."""

    def environment(self, sale: Sale) -> Mapping[str, str]:
        """Return the settings its nodes and workers are started with, scaled to the scenario."""

    def tables_under(self, settings: Mapping[str, str]) -> Mapping[str, CanonicalTable]:
        """Return the canonical tables with the limits that hold under the settings that a run's nodes and workers have."""

    async def prepare(self, nodes: Sequence[Node], sale: Sale, *, run: str, actors: int) -> Stage:
        """Make what is on sale and who comes; raises TargetError, TimeoutError."""
