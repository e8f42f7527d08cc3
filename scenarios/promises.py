"""What must hold in every story of a kind: the invariants by name, so that a new one is added in one place.

An invariant that finds nothing to look at is unknown, not valid; so a story names those kinds of which something happens.
"""

from __future__ import annotations

from typing import Final

AGREED: Final = (
    "never_oversold",
    "occupancy_matches_claims",
    "acknowledged_is_persisted",
    "nothing_is_taken_away",
    "nothing_unattempted_exists",
    "one_effect_per_key",
    "seats_linearize",
    "nothing_left_behind",
    "no_leaked_transactions",
)
"""Whatever is sold: what was asked for, what was told and what is written agree."""

SOLD: Final = (*AGREED, "errors_are_earned")
"""And while nothing is broken nobody is failed."""

_HANDS: Final = ("states_move_one_way", "terminal_rows_never_change", "only_the_owner_acts")

LEDGER: Final = (*SOLD, *_HANDS)
"""Whatever happens to seats after that, too: they change hands only as the rules say."""

LEDGER_WHILE_BROKEN: Final = (*AGREED, *_HANDS)
"""The same where what answers is broken from the beginning to the end, so that there is no time in which nothing is."""

REFUSALS: Final = ("refused_left_no_trace", "redis_never_decides")
"""Where somebody is refused: nothing came of it, and it was PostgreSQL that said so."""

SCARCITY: Final = (*REFUSALS, "sold_out_is_true")
"""Where there is not enough for all: whoever was told so was told the truth."""

KEYS: Final = ("replay_is_identical", "transient_answers_are_not_pinned")
"""Where keys are used again: one answer, and none that was only for a while."""

LINE: Final = ("fifo_handover", "newcomers_never_overtake", "no_gap_in_handover", "outbox_matches_events")
"""Where people stand in line: seats that come free are theirs, in the order in which they came."""

EXPIRY: Final = (
    "nothing_happens_after_expiry",
    "nothing_expires_early",
    "expired_is_true",
    "one_leader_a_term",
    "stale_leaders_change_nothing",
    "sweeps_are_bounded",
)
"""Where time runs out: nothing ends sooner, nor is anybody told so, and sweepers end it under one leader, in bounded steps."""

DELIVERY: Final = ("delivered_once", "attempts_are_bounded", "retries_are_bounded")
"""Where notices are sent: each takes effect once, after a bounded number of tries."""

ADVICE: Final = ("permits_return", "no_immortal_keys")
"""Where Redis is asked: what it keeps for the service comes back, and ends, by itself."""

WITHOUT_ADVICE: Final = ("answers_without_redis",)
"""Where Redis is broken while nothing else is: whoever asks is answered as ever."""

ADVICE_AGAIN: Final = ("redis_is_asked_again",)
"""Where the load goes on for two and a half seconds after Redis has come back: every node asks it as before."""

RECOVERY: Final = ("recovers_after_heal",)
"""Where the load goes on for a second after something was healed."""
