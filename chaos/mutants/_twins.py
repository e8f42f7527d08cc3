"""Twins that reach the database together, for the planted bugs that bite only there."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from service.web import Endpoint

if TYPE_CHECKING:
    from service.web import Call

_scope: Final = Endpoint._scope


def let_twins_meet() -> None:
    """Have Redis take no command for another's twin: its advice hides such a bug for as long as it is there."""
    Endpoint._scope = unlike_any_other  # type: ignore[method-assign]  # that is how a bug is planted


def unlike_any_other(self: Endpoint, call: Call) -> str | None:
    """Return a scope that no other command has."""
    scope = _scope(self, call)
    return None if scope is None else f"{scope}:{secrets.token_hex(8)}"
