"""A load process from its plan to its last word: claim the shard, be ready, wait for t0, play, and say how it went."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import gevent
from gevent import socket
from gevent.event import AsyncResult
from gevent.lock import Semaphore

from scenarios.control import (
    CONTROL_VARIABLE,
    SHARD_VARIABLE,
    Failed,
    Finished,
    Go,
    Hello,
    Part,
    Progress,
    Ready,
    Stop,
    line,
    to_load,
)
from scenarios.dispatch.alarm import Alarm
from scenarios.dispatch.client import Client, Unclassified
from scenarios.dispatch.connection import NotConnected
from scenarios.dispatch.health import Pulse, quantile
from scenarios.dispatch.race import run_races
from scenarios.dispatch.rush import Rush
from scenarios.journal import Header, Journal, JournalFull, JournalTextTooLong
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scenarios.control import FromLoad
    from scenarios.dispatch.client import Record
    from scenarios.plan import LoadPlan

_PROGRESS_SECONDS = 0.25
_CONTROL_SECONDS = 10.0
_ORPHANED = 70  # the exit status of a load process whose runner is gone
_TOLD = (Unclassified, NotConnected, JournalFull, JournalTextTooLong, TargetError, OSError)


class Session:
    """One load process's part of one run, led by the runner at the other end of the control socket."""

    __slots__ = ("_control", "_go", "_mouth", "_over", "_part", "_record", "_shard", "_stopped")

    def __init__(self, environment: Mapping[str, str], record: Record) -> None:
        """Reach the runner; raises KeyError without its address and OSError where it does not answer."""
        self._shard = int(environment[SHARD_VARIABLE])
        self._record = record
        self._stopped = self._over = False
        self._part: AsyncResult = AsyncResult()
        self._go: AsyncResult = AsyncResult()
        self._mouth = Semaphore()
        self._control = socket.socket(socket.AF_UNIX)
        self._control.settimeout(_CONTROL_SECONDS)
        self._control.connect(environment[CONTROL_VARIABLE])
        self._control.settimeout(None)

    def play(self) -> bool:
        """Play this part and return whether it could be played to its end; what stops it is told to the runner."""
        hub = gevent.get_hub()
        hub.NOT_ERROR = (
            *hub.NOT_ERROR,
            NotConnected,
        )  # it is told below: a traceback would bury the sentence
        gevent.spawn(self._listen)
        self._tell(Hello(shard=self._shard, pid=os.getpid()))
        last_word: Finished | Failed
        try:
            last_word = self._played(self._part.get())
        except _TOLD as reason:
            last_word = Failed(shard=self._shard, sentence=str(reason))
        finally:
            self._over = True  # before the last word, at which the runner may go
        self._tell(last_word)
        return isinstance(last_word, Finished)

    def _played(self, part: Part) -> Finished:
        """Claim the shard's journal and play; raises what is told as a failure."""
        _write_to(part.log)
        plan = part.plan
        journal = Journal(Path(plan.journal) / f"{plan.shard}.bin", _header(plan))
        client = Client(plan, journal, self._record)
        gc.collect()
        gc.freeze()  # the plan and Locust's modules are for ever: no collection shall walk them in a race
        self._tell(Ready(shard=self._shard))
        t0_ns = self._go.get()
        pulse = Pulse(self._shard, self._tell, lambda: (client.arrivals, client.dropped))
        progress = gevent.spawn(self._report, client)
        began_ns, began_cpu = time.monotonic_ns(), time.process_time_ns()
        try:
            self._play_from(t0_ns, plan, client)
            ended_ns, ended_cpu = time.monotonic_ns(), time.process_time_ns()
        finally:
            progress.kill()
            pulse.stop()
            journal.close()
        return Finished(
            shard=self._shard,
            tally=client.tally,
            began_ns=began_ns,
            ended_ns=ended_ns,
            lag_p99_us=quantile(pulse.lags_ns, 0.99) / 1_000,
            cpu_seconds=(ended_cpu - began_cpu) / 1e9,
        )

    def _play_from(self, t0_ns: int, plan: LoadPlan, client: Client) -> None:
        if plan.schedule.barriers():
            alarm = Alarm()
            alarm.until(t0_ns)
            alarm.close()
            run_races(plan, client, lambda: self._stopped)
        else:
            Rush(plan, client, t0_ns).run(lambda: self._stopped)

    def _report(self, client: Client) -> None:
        while True:
            gevent.sleep(_PROGRESS_SECONDS)
            self._tell(Progress(shard=self._shard, tally=client.tally))

    def _listen(self) -> None:
        """Hear the runner; where it has gone, this process has nobody to send for and ends at once."""
        with self._control.makefile("rb") as lines:
            for raw in lines:
                message = to_load(raw)
                if isinstance(message, Part):
                    self._part.set(message)
                elif isinstance(message, Go):
                    self._go.set(message.t0_ns)
                elif isinstance(message, Stop):
                    self._stopped = True
        if not self._over:
            os._exit(_ORPHANED)

    def _tell(self, message: FromLoad) -> None:
        with self._mouth:  # a line that has to wait for the runner must not be cut by another
            self._control.sendall(line(message))


def _write_to(log: str) -> None:
    """Write what is said from now on into this file: the process may have been started before anybody knew what for."""
    with Path(log).open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)


def _header(plan: LoadPlan) -> Header:
    return Header(
        run=plan.run,
        shard=plan.shard,
        capacity=plan.operations_max,
        kinds=tuple(dict.fromkeys(action.kind for action in plan.actions.values())),
        nodes=tuple(node.label for node in plan.nodes),
        admissions=tuple(
            dict.fromkeys(name for action in plan.actions.values() for name in action.admissions)
        ),
        tenants=tuple(dict.fromkeys(actor.tenant for actor in plan.stage.actors)),
    )
