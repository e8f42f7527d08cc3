"""Planted bugs: each file here is one, a bug of a public report put into the running service.

A file `<kind_with_underscores>.py` defines `MUTANT`, what the bug is and who must catch it, and `plant()`, which
replaces a named function or statement of the service in the process that calls it. `chaos.launch` calls it
before the service starts. A file `_<name>.py` is no bug but what several have in common.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from chaos.faults import FaultSpellingError, parse

if TYPE_CHECKING:
    from types import ModuleType

    from service.statements import Statement


SECTIONS: Final = (
    "capacity",
    "holds",
    "waitlist",
    "idempotency",
    "outbox",
    "redis",
    "leaders",
    "postgresql",
    "limits",
)
"""What a bug is about, in the order in which the docs and the matrix show them."""


class BrokenMutant(Exception):  # noqa: N818 - names the file that is broken
    """A file of this folder does not define a mutant; the text names the file and what is wrong with it."""


class UnknownMutant(LookupError):  # noqa: N818 - the answer to a name
    """No mutant has that name; the text tells which there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One planted bug: its mechanism in a sentence, the public reports of it, and how the bench catches it.

    `section` is one of SECTIONS; `reports` are `owner/repo#number`; `scenario` is the one that provokes it; `caught_by`
    are the invariants that must each find it in every run. `racy`: it bites only where requests or workers meet, or a
    crash meets what is under way. `faults` (spelled as on the command line) make its race wider, and are not needed to
    catch it. `schema` are statements run on the run's own database before anything is on sale: they take away the
    constraint that would mask the bug.
    `harmless` says why the kind cannot bite in this service; then nothing has to catch it.
    """

    name: str
    mechanism: str
    section: str
    reports: tuple[str, ...]
    scenario: str
    caught_by: tuple[str, ...]
    racy: bool = False
    faults: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    harmless: str = ""


def names() -> tuple[str, ...]:
    """Name every mutant without importing one."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(_name(module) for module in found if not module.startswith("_")))


def discover() -> dict[str, Mutant]:
    """Find every mutant by name. Raises BrokenMutant."""
    return {name: _checked(name)[0] for name in names()}


def plant(name: str) -> Mutant:
    """Plant one bug in this process and return what it is. Raises UnknownMutant and BrokenMutant."""
    if name not in names():
        raise UnknownMutant(f"there is no mutant {name!r}; known: {', '.join(names()) or 'none'}")
    mutant, module = _checked(name)
    module.plant()
    return mutant


def reword(statements: dict[str, Statement], name: str, *, was: str, now: str) -> None:
    """Alter a named statement of the service; raises BrokenMutant unless `was` stands in it exactly once."""
    statement = statements[name]
    if (times := statement.text.count(was)) != 1:
        raise BrokenMutant(f"{name} has {was!r} {times} times, and not once")
    statements[name] = replace(statement, text=statement.text.replace(was, now))


def _checked(name: str) -> tuple[Mutant, ModuleType]:
    file = f"{name.replace('-', '_')}.py"
    try:
        module = importlib.import_module(f"{__name__}.{file.removesuffix('.py')}")
    except Exception as error:
        raise BrokenMutant(f"chaos/mutants/{file} cannot be imported: {error!r}") from error
    mutant = getattr(module, "MUTANT", None)
    if not isinstance(mutant, Mutant):
        raise BrokenMutant(f"chaos/mutants/{file} defines no MUTANT of type Mutant")
    if not callable(getattr(module, "plant", None)):
        raise BrokenMutant(f"chaos/mutants/{file} defines no function plant()")
    if problem := _problem(mutant, name):
        raise BrokenMutant(f"chaos/mutants/{file}: {problem}")
    return mutant, module


def _problem(mutant: Mutant, name: str) -> str:
    if mutant.name != name:
        return f"its MUTANT is named {mutant.name!r} instead of {name!r}"
    needed = ("mechanism", "reports", "scenario") + (() if mutant.harmless else ("caught_by",))
    for field in needed:
        if not getattr(mutant, field):
            return f"its MUTANT has no {field}"
    if mutant.section not in SECTIONS:
        return f"its section {mutant.section!r} is none of {', '.join(SECTIONS)}"
    try:
        for spelled in mutant.faults:
            parse(spelled)
    except FaultSpellingError as error:
        return str(error)
    return ""


def _name(module: str) -> str:
    return module.replace("_", "-")
