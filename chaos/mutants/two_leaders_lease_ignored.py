"""Whoever asks to lead leads: nobody looks whether the other's lease still runs."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import leadership

MUTANT: Final = Mutant(
    name="two-leaders-lease-ignored",
    mechanism="Takes the lease over whenever it asks for one, though another's still runs; each transaction checks its term as ever.",
    section="leaders",
    reports=("LFDT-Panurus/panurus#2120", "kubernetes/kubernetes#23731"),
    scenario="leader_pause",
    caught_by=("one_leader_a_term",),
)


def plant() -> None:
    """Let no lease count as one that runs."""
    reword(leadership.SQL, "peek", was="AS live", now="AND false AS live")
    reword(leadership.SQL, "elect", was="WHERE held.holder =", now="WHERE true OR held.holder =")
