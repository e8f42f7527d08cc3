"""What everybody does who asks again: under the same key, at another node, until there is an answer that stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.journal import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scenarios.habit import Answer, Buyer


def insist(buyer: Buyer, answer: Answer, pauses: Iterable[float]) -> Answer:
    """Ask again after each pause (s) until it worked, or the same refusal was told from memory: then it is final."""
    for seconds in pauses:
        if answer.outcome is Outcome.OK or answer.replayed:
            break
        buyer.pause(seconds)
        answer = buyer.repeat(elsewhere=True)
    return answer
