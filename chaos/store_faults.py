"""Faults of what Redis remembers: everything forgotten, or the last of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.fault import NotSeen
from chaos.parts import PartError, Store
from chaos.process_faults import ProcessFault
from chaos.values import value

if TYPE_CHECKING:
    from chaos.fault import Reach

_OLD, _NEW = "as of the snapshot", "after the snapshot"


@dataclass(frozen=True, slots=True)
class Flush(ProcessFault):
    """Redis forgets everything at once (FLUSHALL)."""

    kind = "flush"
    span = "moment"
    roles = ("redis",)

    async def inject(self, reach: Reach, tag: str) -> None:
        """Leave a mark among the content, and flush."""
        for store in self.stores(reach):
            await store.write_mark(tag)
            await store.flush()

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """See that the mark is gone."""
        for store in self.stores(reach):
            if mark := await store.read_mark():
                raise NotSeen(f"a mark from before is still there: {mark!r}")
        return "a mark from before is gone"

    def stores(self, reach: Reach) -> tuple[Store, ...]:
        """Find what can be emptied. Raises PartError."""
        parts = self.candidates(reach)
        stores = tuple(part for part in parts if isinstance(part, Store))
        if len(stores) < len(parts):
            raise PartError(f"{self.where} keeps nothing that could be dropped")
        return stores


@dataclass(frozen=True, slots=True)
class Rollback(Flush):
    """Redis fails over to a replica that missed the last `lost_ms` of writes: a snapshot, those writes, the snapshot again."""

    kind = "rollback"
    lost_ms: int = value("ms", 500, least=1)

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - the mark says more
        """Take a snapshot, let the writes happen that will be lost, and go back."""
        snapshots = []
        for store in self.stores(reach):
            await store.write_mark(_OLD)
            snapshots.append(await store.save())
            await store.write_mark(_NEW)
        await self.take_hold(reach)
        await asyncio.sleep(self.lost_ms / 1_000)
        for store, snapshot in zip(self.stores(reach), snapshots, strict=True):
            await store.roll_back(snapshot)

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """See the mark as it was at the snapshot."""
        for store in self.stores(reach):
            if (mark := await store.read_mark()) != _OLD:
                raise NotSeen(f"the mark reads {mark!r}, not {_OLD!r}")
        return f"a mark written {self.lost_ms} ms before is undone"
