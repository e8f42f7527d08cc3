"""The trail of a run: opened before the load, read beside it, drained after it, and turned into Parquet."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import asyncpg
import msgspec

from checker import session, state
from checker.tables import describe
from checker.trail import decode, slot
from checker.trail.polling import Pace, SlotReader, reason
from checker.trail.record import TrailRecord, TrailStatus, write_record
from checker.trail.spool import Spool, SpoolError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

_BEYOND_REPAIR: Final = (slot.TrailError, SpoolError, asyncpg.PostgresError)


class Trail:
    """Every committed change of some tables, from a slot made before the load; see `open`."""

    def __init__(self, dsn: str, folder: Path, pace: Pace, record: TrailRecord) -> None:
        self.record = record
        self._dsn = dsn
        self._folder = folder
        self._pace = pace
        self._connection: asyncpg.Connection | None = None
        self._spool: Spool | None = None
        self._reader: SlotReader | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        dsn: str,
        tables: Mapping[str, tuple[str, ...]],
        folder: Path,
        *,
        temporary: bool = False,
        required: bool = True,
        pace: Pace | None = None,
    ) -> AsyncIterator[Trail]:
        """Open a trail of these tables (name → key columns, none: the primary key) in a run folder, and read it.

        Call it before the first row is written; what stands in the tables already goes to base/. A `temporary` slot
        goes with its session and suits a database that is not ours, but does not outlive a crash of PostgreSQL.
        Raises UnknownTableError, TrailError naming who blocks the slot, and NoTrailError where the database does no
        logical decoding for us; unless `required`, the record says that instead. Slot and publication are dropped on
        every way out.
        """
        trail = cls(dsn, folder, pace or Pace(), TrailRecord(status=TrailStatus.OPEN, temporary=temporary))
        try:
            try:
                await trail._set_up(tables)
            except slot.NoTrailError as none:
                if required:
                    raise
                trail._note(status=TrailStatus.NONE, reason=str(none))
            yield trail
        finally:
            await trail._close()

    async def drain(self, *, deadline_seconds: float) -> TrailRecord:
        """Read up to a marker written now, then stop: whatever was committed before this call has been read.

        Read the state first and drain second: the completeness check leaves out what the state could not see, but
        cannot invent what the trail has not read. On failure the record is `broken`, with the reason.
        """
        await self._stop_polling()
        if self.record.status is TrailStatus.OPEN and self._reader is not None:
            try:
                async with asyncio.timeout(deadline_seconds):
                    await self._read_to_marker(self._reader)
            except TimeoutError:
                self._break(f"the trail was not drained within {deadline_seconds:g} s")
            except _BEYOND_REPAIR as failure:
                self._break(reason(failure))
            else:
                self._note(status=TrailStatus.DRAINED, drained_to_lsn=self._reader.drained_to_lsn)
        self._write_record()
        return self.record

    def to_parquet(self) -> TrailRecord:
        """Decode the spool into changes/<table>.parquet, and complete trail.json; call it after `drain`."""
        if self._spool is not None:
            self._spool.flush()
            self.record = decode.to_parquet(self._folder, self.record)
        self._write_record()
        return self.record

    async def _set_up(self, tables: Mapping[str, tuple[str, ...]]) -> None:
        pace = self._pace
        self._connection = await session.connect(self._dsn, purpose="trail")
        described = await describe(self._connection, tables)
        made = await slot.make(
            self._connection,
            self._dsn,
            described,
            temporary=self.record.temporary,
            deadline_seconds=pace.create_seconds,
        )
        self._note(tables=described, slot=made.name, started_at_lsn=made.started_at_lsn)
        await slot.outlive(self._connection, self._dsn, deadline_seconds=pace.create_seconds)
        snapshot = await state.read_base(
            self._connection, described, self._folder, deadline_seconds=pace.base_seconds
        )
        self._note(base_snapshot=snapshot)
        path = self._folder / decode.SPOOL
        path.parent.mkdir(parents=True, exist_ok=True)
        self._spool = Spool(path)
        self._reader = SlotReader(self._dsn, made, self._connection, self._spool, pace)
        self._write_record()
        self._task = asyncio.create_task(self._keep_polling(self._reader), name="trail")

    async def _keep_polling(self, reader: SlotReader) -> None:
        """Poll until told to stop; what cannot be mended is kept in the record, never raised."""
        try:
            while not self._stop.is_set():
                try:
                    await reader.poll()
                except session.GONE as gone:
                    await reader.mend(gone)
                await session.pause(self._stop, self._pace.poll_seconds)
        except _BEYOND_REPAIR as failure:
            self._break(reason(failure))

    async def _read_to_marker(self, reader: SlotReader) -> None:
        written = False
        while reader.drained_to_lsn is None:
            try:
                if not written:
                    await reader.write_marker()
                    written = True
                await reader.poll()
            except session.GONE as gone:
                await reader.mend(gone)

    async def _stop_polling(self) -> None:
        self._stop.set()
        task, self._task = self._task, None
        if task is None:
            return
        done, _ = await asyncio.wait({task}, timeout=self._pace.close_seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=self._pace.close_seconds)
        elif not task.cancelled() and (failure := task.exception()) is not None:
            self._break(reason(failure))

    async def _close(self) -> None:
        await self._stop_polling()
        if self._spool is not None:
            self._spool.close()
        await session.close(self._reader.connection if self._reader else self._connection)
        if self.record.slot is not None:
            await self._drop(self.record.slot)
        if self.record.status is TrailStatus.OPEN:
            self._break("the run ended before the trail was drained")
        self._write_record()

    async def _drop(self, name: str) -> None:
        """Drop slot and publication on a session of its own; what could not be dropped is recorded."""
        connection: asyncpg.Connection | None = None
        try:
            async with asyncio.timeout(self._pace.close_seconds):
                connection = await session.reconnect(
                    self._dsn, purpose="trail", within_seconds=self._pace.close_seconds
                )
                await slot.drop(connection, name)
        except (*session.GONE, asyncpg.PostgresError) as failure:
            self._note(left_behind=(f"slot and publication {name} ({reason(failure)})",))
        finally:
            await session.close(connection)

    def _break(self, why: str) -> None:
        self._note(status=TrailStatus.BROKEN, reason=why)

    def _note(self, **changed: object) -> None:
        self.record = msgspec.structs.replace(self.record, **changed)

    def _write_record(self) -> None:
        if self._reader is not None and self._spool is not None:
            self._note(frames=self._spool.frames, reconnects=self._reader.reconnects)
        write_record(self._folder, self.record)
