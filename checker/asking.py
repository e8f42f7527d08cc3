"""One invariant asked of the evidence: its two statements, or its function, with a bound on the time."""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import duckdb

from checker.linear import Undecided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from checker.evidence import Evidence
    from checker.rule import Rule

SHOWN_MAX: Final = 10
ASK_SECONDS: Final = 60.0
"""Far more than an invariant takes over the evidence of a run, so that only a query without an end is given up."""


def ask(evidence: Evidence, rule: Rule) -> tuple[int, int, list[dict[str, Any]]]:
    """Return how much an invariant looked at, how many counter-examples it found, and the first few of them.

    They are ordered by their columns from left to right: an order of the query's own could leave ties to chance.
    Raises Undecided where it cannot be said, and duckdb.Error.
    """
    try:
        with _bounded(evidence, anything=rule.is_python):
            return _called(evidence, rule) if rule.is_python else _queried(evidence, rule)
    except _Late:
        raise Undecided(f"it was not done within {ASK_SECONDS:g} s") from None


def _queried(evidence: Evidence, rule: Rule) -> tuple[int, int, list[dict[str, Any]]]:
    looked_at = _counted(evidence.rows(rule.looked_at))
    (count,) = evidence.row(f"CREATE OR REPLACE TEMP TABLE found AS {rule.counter_examples}")
    shown = evidence.records(f"SELECT * FROM found ORDER BY ALL LIMIT {SHOWN_MAX}") if count else []
    return looked_at, int(count), shown


def _counted(rows: list[tuple[Any, ...]]) -> int:
    """Return what a `looked at` statement counted; a user's own may say anything."""
    if len(rows) != 1 or len(rows[0]) != 1 or not isinstance(rows[0][0], int) or rows[0][0] < 0:
        raise Undecided("its `looked at` does not give one number of things")
    return int(rows[0][0])


class _Late(BaseException):
    """A function that asks nothing of DuckDB is not done."""


@contextmanager
def _bounded(evidence: Evidence, *, anything: bool) -> Iterator[None]:
    """Give a query up after a while, or `anything` that runs in this thread.

    Ctrl-C in a query is a KeyboardInterrupt, and not the RuntimeError DuckDB makes of it.
    """
    here = ctypes.c_ulong(threading.get_ident())

    def give_up() -> None:
        evidence.interrupt()
        if anything:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(here, ctypes.py_object(_Late))

    alarm = threading.Timer(ASK_SECONDS, give_up)
    alarm.daemon = True
    alarm.start()
    try:
        yield
    except duckdb.InterruptException as late:
        raise _Late from late
    except RuntimeError as ended:
        if str(ended) == "Query interrupted":
            raise KeyboardInterrupt from ended
        raise
    finally:
        alarm.cancel()
        # One that has fired raises here, and in nothing that comes after.
        alarm.join()


def _called(evidence: Evidence, rule: Rule) -> tuple[int, int, list[dict[str, Any]]]:
    """Let a rule's own function judge; one that fails has not decided anything."""
    try:
        looked_at, found = rule.function()(evidence)
        return _counted([(looked_at,)]), len(found), [dict(row) for row in found[:SHOWN_MAX]]
    except (Undecided, duckdb.Error):
        raise
    except (Exception, SystemExit) as error:
        raise Undecided(f"{type(error).__name__}: {error}") from error
    finally:
        evidence.drop_temporary()
