"""A wrong wall clock for one process: its `time` and `datetime` are patched before anything else reads them."""

from __future__ import annotations

import datetime as dt
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class _Lookalike(type):
    """Lets instances of the true class, which C code goes on making, count as instances of the shifted one."""

    def __instancecheck__(cls, instance: object) -> bool:
        true = cls.__dict__.get("true")
        return isinstance(instance, true) if true else type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        true = cls.__dict__.get("true")
        return issubclass(subclass, true) if true else type.__subclasscheck__(cls, subclass)


class ShiftedDatetime(dt.datetime, metaclass=_Lookalike):
    """A datetime whose present is `offset` off."""

    true: ClassVar[type[dt.datetime]] = dt.datetime
    offset: ClassVar[dt.timedelta] = dt.timedelta(0)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Self:
        """Return the shifted present."""
        return super().now(tz) + cls.offset

    @classmethod
    def today(cls) -> Self:
        """Return the shifted present, naive."""
        return cls.now()

    @classmethod
    def utcnow(cls) -> Self:
        """Return the shifted present in UTC, naive."""
        return cls.now(dt.UTC).replace(tzinfo=None)


class ShiftedDate(dt.date, metaclass=_Lookalike):
    """A date whose today is that of the shifted clock."""

    true: ClassVar[type[dt.date]] = dt.date

    @classmethod
    def today(cls) -> Self:
        """Return the day of the shifted present."""
        return cls.fromtimestamp(time.time())


def shift(seconds: float) -> None:
    """Let this process believe that it is `seconds` later (or, below 0, earlier) than it is; once a process.

    Monotonic clocks stay right, as they do when a real machine's wall clock is wrong. A module that has already bound
    `time.time` or `datetime.datetime` by name keeps the right one, so this comes before the service is imported.
    """
    # Its compiled part takes the type of the instants that it makes once, at import, and others take none but the true one.
    import_module("asyncpg.pgproto.pgproto")
    ShiftedDatetime.offset = dt.timedelta(seconds=seconds)
    for name in ("time", "time_ns"):
        setattr(time, name, _later(getattr(time, name), seconds if name == "time" else round(seconds * 1e9)))
    for name in ("gmtime", "localtime", "ctime"):
        setattr(time, name, _of_now(getattr(time, name)))
    for shifted, name in ((ShiftedDatetime, "datetime"), (ShiftedDate, "date")):
        shifted.__name__ = shifted.__qualname__ = name
        shifted.__module__ = "datetime"
        setattr(dt, name, shifted)


def _later(true: Callable[[], Any], offset: float) -> Callable[[], Any]:
    return lambda: true() + offset


def _of_now(true: Callable[[float], Any]) -> Callable[..., Any]:
    """Give a conversion of instants the shifted present where it is given none."""
    return lambda instant=None: true(time.time() if instant is None else instant)
