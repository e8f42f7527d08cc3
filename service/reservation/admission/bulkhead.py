"""How many commands one node may have under way: always asked first, never over the network."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from service import errors
from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator


class Bulkhead:
    """A count of permits, refused at once when none is left: waiting belongs to the pool, which bounds it."""

    def __init__(self, permits: int, *, retry_after_ms: int) -> None:
        self.permits = permits
        self.in_use = 0
        self.refused_total = 0
        self._retry_after_ms = retry_after_ms

    @contextmanager
    def permit(self) -> Iterator[None]:
        """Hold one permit; raises Refused (ADMISSION_REFUSED), definite, where none is left."""
        if self.in_use >= self.permits:
            self.refused_total += 1
            raise Refused(errors.ADMISSION_REFUSED, retry_after_ms=self._retry_after_ms)
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
