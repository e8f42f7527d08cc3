"""Which assumptions there are and how each is measured; an assumption registers itself where it is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import duckdb

from checker.verdict import Premise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from checker.brief import Assumption, Kind
    from checker.evidence import Evidence

    Parameters = Mapping[str, int | float | str]


class Measured(NamedTuple):
    """What an assumption required and what was measured, in words, and whether that is enough."""

    holds: bool
    required: str
    measured: str


if TYPE_CHECKING:
    Measure = Callable[[Evidence, Parameters], Measured]

_MEASURES: dict[str, tuple[Kind, Measure]] = {}
_CONSTRUCTORS: dict[str, Callable[..., Assumption]] = {}


def measures(constructor: Callable[..., Assumption], kind: Kind) -> Callable[[Measure], Measure]:
    """Register a function as what measures the assumptions that `constructor` makes."""

    def register(measure: Measure) -> Measure:
        _MEASURES[constructor.__name__] = (kind, measure)
        _CONSTRUCTORS[constructor.__name__] = constructor
        return measure

    return register


def names(kind: Kind) -> tuple[str, ...]:
    """Return the registered assumptions of a kind."""
    return tuple(sorted(name for name, (its_kind, _) in _MEASURES.items() if its_kind == kind))


def always() -> tuple[Assumption, ...]:
    """Return the assumptions of evidence, with their usual limits: every run makes them, whether it says so or not."""
    return tuple(_CONSTRUCTORS[name]() for name, (kind, _) in _MEASURES.items() if kind == "evidence")


def constructor(name: str) -> Callable[..., Assumption] | None:
    """Return the function by which scenarios name an assumption; None where there is no such."""
    return _CONSTRUCTORS.get(name)


def premise(evidence: Evidence, assumption: Assumption) -> Premise:
    """Measure an assumption; one that is unknown or cannot be measured does not hold, and says why."""
    kind, measure = _MEASURES.get(assumption.name, (assumption.kind, _unknown))
    try:
        holds, required, measured = measure(evidence, assumption.parameters)
    except (duckdb.Error, ArithmeticError, LookupError, TypeError, ValueError, OSError) as error:
        reason = str(error).partition("\n")[0]
        holds, required, measured = (
            False,
            f"{assumption.name} to be measurable",
            f"{type(error).__name__}: {reason}",
        )
    return Premise(name=assumption.name, kind=kind, holds=holds, required=required, measured=measured)


def _unknown(_evidence: Evidence, _parameters: Parameters) -> Measured:
    return Measured(
        False, "an assumption that the checker knows", f"there are only {', '.join(sorted(_MEASURES))}"
    )
