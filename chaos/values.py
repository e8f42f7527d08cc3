"""The values of a fault: declared with their unit, checked, and spelled."""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from dataclasses import Field


def value(unit: str, default: Any = ..., *, least: int = 0) -> Any:
    """Declare a whole number of a fault, its unit on the command line and its least value."""
    return _declared({"unit": unit, "least": least}, default)


def signed(unit: str, default: Any = ...) -> Any:
    """Declare a whole number that is spelled with its sign."""
    return _declared({"unit": unit, "signed": True}, default)


def word(*choices: str, default: Any = ...) -> Any:
    """Declare a word, one of the choices if there are any."""
    return _declared({"unit": "", "choices": choices}, default)


def valued(fault: Any) -> tuple[Field[Any], ...]:
    """Return the values of a fault (or of its class) in their order."""
    return tuple(each for each in fields(fault) if "unit" in each.metadata)


def name_of(each: Field[Any]) -> str:
    """Return what a value is called on the command line: its name without the unit."""
    return each.name.rpartition("_")[0] or each.name


def check(fault: Any) -> None:
    """Refuse values that mean nothing. Raises ValueError."""
    for each in valued(fault):
        given, least, choices = (
            getattr(fault, each.name),
            each.metadata.get("least"),
            each.metadata.get("choices"),
        )
        if least is not None and given < least:
            raise ValueError(f"{each.name} of {fault.kind}:{fault.where} must be at least {least}")
        if choices and given not in choices:
            raise ValueError(f"{each.name} of {fault.kind}:{fault.where} must be {' or '.join(choices)}")


def spelled(fault: Any) -> str:
    """Spell the values as `chaos.faults.parse` reads them, the first without its name; empty without any."""
    said = list(_spelled(fault))
    return "=" + ",".join(said) if said else ""


def _spelled(fault: Any) -> Iterator[str]:
    for place, each in enumerate(valued(fault)):
        given = getattr(fault, each.name)
        if place and given == each.default:
            continue
        sign = "+" if each.metadata.get("signed") and given >= 0 else ""
        name = "" if place == 0 else f"{name_of(each)}="
        yield f"{name}{sign}{given}{each.metadata['unit']}"


def _declared(metadata: dict[str, Any], default: Any) -> Any:
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)
