"""Judges an answer by its target's rules; one that no rule knows is never counted as refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from scenarios.journal import Outcome
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scenarios.targets.target import Rule

_Answer = TypeVar("_Answer")
_SAID = {"ok": Outcome.OK, "fail": Outcome.FAIL, "info": Outcome.INFO}


class Classifier:
    """The rules of one action, compiled: exact (status, code) first, then a status alone, then ranges as listed."""

    __slots__ = ("_by_code", "_by_status", "_ranges")

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Compile; raises TargetError where two rules speak of the same answer."""
        self._by_code: dict[tuple[int, str], Outcome] = {}
        self._by_status: dict[int, Outcome] = {}
        self._ranges: list[tuple[range, str | None, Outcome]] = []
        for rule in rules:
            self._add(rule)

    def _add(self, rule: Rule) -> None:
        said = _SAID[rule.said]
        if rule.status_max is not None:
            self._ranges.append((range(rule.status, rule.status_max + 1), rule.code, said))
        elif rule.code is None:
            _enter(self._by_status, rule.status, said)
        else:
            _enter(self._by_code, (rule.status, rule.code), said)

    def judge(self, status: int, code: str | None) -> Outcome | None:
        """Return what the answer means, or None if no rule knows it."""
        if code is not None:
            exact = self._by_code.get((status, code))
            if exact is not None:
                return exact
        else:
            alone = self._by_status.get(status)
            if alone is not None:
                return alone
        for statuses, required, said in self._ranges:
            if status in statuses and required in (None, code):
                return said
        return None


def _enter(table: dict[_Answer, Outcome], answer: _Answer, said: Outcome) -> None:
    if table.setdefault(answer, said) is not said:
        raise TargetError(f"two rules disagree on the answer {answer}: {table[answer].name} and {said.name}")
