"""How a provider treats what comes, and the words that it and the lab exchange over the control socket, a JSON line each."""

from __future__ import annotations

from typing import Literal

import msgspec

Does = Literal["accept", "retry", "decline", "refuse", "late", "drop_reply", "kill_caller", "down"]


class Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    """What is done to which requests; those not concerned are accepted.

    accept; retry: a failure that may be tried again, without effect; decline: a final no, kept for that id; refuse: an id
    that met it fails for ever; late: effect at once, answer `by_ms` later; drop_reply: effect, then the connection ends;
    kill_caller: a new effect, then the caller is killed and reaped, then the connection ends; down: nobody listens.
    Only requests whose path after the caller begins with `path` and whose id begins with `only` are concerned, and of
    them the first `times` (0: all).
    """

    does: Does = "accept"
    by_ms: int = 0
    times: int = 0
    only: str = ""
    path: str = ""


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """How many requests have met a behaviour, which callers it had killed, and what became of them."""

    requests: int = 0
    callers: tuple[str, ...] = ()
    killed: tuple[str, ...] = ()


class Up(msgspec.Struct, frozen=True, kw_only=True, tag="up"):
    """The provider listens on this port."""

    port: int


class Behave(msgspec.Struct, frozen=True, kw_only=True, tag="behave"):
    """From now on, treat what comes like this; None only asks."""

    number: int
    behaviour: Behaviour | None


class Told(msgspec.Struct, frozen=True, kw_only=True, tag="told"):
    """The answer to `Behave`: what has met the behaviour until then; `problem` says why the new one cannot be had."""

    number: int
    met: Met
    problem: str = ""


class KillCaller(msgspec.Struct, frozen=True, kw_only=True, tag="kill"):
    """The provider wishes this process of the lab killed and reaped."""

    number: int
    caller: str


class CallerKilled(msgspec.Struct, frozen=True, kw_only=True, tag="killed"):
    """The caller is gone (`how` it ended), or could not be killed."""

    number: int
    how: str = ""
    problem: str = ""


FromProvider = Up | Told | KillCaller
ToProvider = Behave | CallerKilled
