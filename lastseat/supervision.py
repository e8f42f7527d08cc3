"""The runner's side of the supervisor: start processes under it, signal them, and learn how they ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from lastseat.children import Child, Start, tail
from lastseat.errors import LabError
from lastseat.leftovers import remove_lab
from lastseat.processes import MARKER

ANSWER_SECONDS = 5.0
"""How long the supervisor may take over one request, and to be up."""
END_SECONDS = 5.0
"""How long the supervisor may take to end everything: it promises two seconds and needs one on a busy machine."""
_SUPERVISE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from lastseat.supervisor import main; main()"


class Supervision:
    """The link to a running supervisor."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, log: Path) -> None:
        """Use `begin` instead."""
        self.process = process
        self.folder = folder
        self.log = log
        self.children: dict[int, asyncio.Future[int]] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._writer: asyncio.StreamWriter
        self._listening: asyncio.Task[None]
        self._requests = 0

    @classmethod
    async def begin(cls, *, folder: Path, marker: str, log: Path) -> Supervision:
        """Start the supervisor and wait until it is ready; it creates `folder`, and removes it at its end."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, log.open("ab") as output:
                process = subprocess.Popen(  # noqa: ASYNC220, S603 - 2 ms, once; the arguments are ours
                    [
                        *(sys.executable, "-I", "-S", "-c", _SUPERVISE, str(Path(__file__).parent.parent)),
                        *(str(theirs.fileno()), str(folder), marker),
                    ],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    env={**os.environ, MARKER: marker},
                )
            supervision = cls(process, folder, log)
            reader, supervision._writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        supervision._listening = asyncio.create_task(supervision._listen(reader))
        try:
            await asyncio.wait_for(supervision._ready, ANSWER_SECONDS)
        except BaseException as problem:
            await supervision.end()
            if isinstance(problem, TimeoutError):
                raise supervision._gone("the supervisor was not up in time") from None
            raise
        return supervision

    async def spawn(self, start: Start) -> Child:
        """Start a process; raises LabError when it cannot be (no such file, no permission)."""
        start.log.parent.mkdir(parents=True, exist_ok=True)
        account = start.account
        try:
            answer = await self._ask(
                do="spawn",
                argv=list(start.argv),
                env=dict(start.env),
                cwd=str(start.cwd),
                log=str(start.log),
                uid=account.uid if account else None,
                gid=account.gid if account else None,
                data_folder=str(start.data_folder) if start.data_folder else None,
                postmaster=start.postmaster,
            )
        except OSError as problem:
            raise LabError(
                f"{start.role} could not be started: {problem}",
                where=" ".join(start.argv[:2]),
                remedy="run `lastseat doctor` to see whether that program can be run here",
            ) from None
        return Child(answer["pid"], start, self, self.children[answer["pid"]])

    def send_signal(self, pid: int, number: int, *, whole_group: bool = False) -> None:
        """Have the supervisor, which alone knows that the pid is still the child's, send a signal."""
        self._request(do="signal", pid=pid, signal=int(number), group=whole_group)

    async def end(self) -> None:
        """Have everything ended and the folder removed; also when the supervisor is gone already. Never raises."""
        self._writer.close()  # end of file is the order to end
        for last_words in (signal.SIGCONT, signal.SIGKILL):  # at which its children die with it
            if await self._has_ended():
                break
            self.process.send_signal(last_words)
        await asyncio.wait([self._listening], timeout=1.0)
        self._listening.cancel()
        with contextlib.suppress(OSError):
            await asyncio.to_thread(remove_lab, self.folder)

    async def _has_ended(self) -> bool:
        with contextlib.suppress(TimeoutError, subprocess.TimeoutExpired):
            await asyncio.wait_for(asyncio.to_thread(self.process.wait, END_SECONDS), END_SECONDS + 1)
        return self.process.poll() is not None

    def _request(self, **request: Any) -> asyncio.Future[dict[str, Any]]:
        if self._listening.done():
            raise self._gone("the supervisor has gone, and every process of the lab with it")
        self._requests += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._requests] = answer
        self._writer.write(json.dumps({"id": self._requests, **request}).encode() + b"\n")
        return answer

    async def _ask(self, **request: Any) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(self._request(**request), ANSWER_SECONDS)
        except TimeoutError:
            raise self._gone(f"the supervisor did not answer within {ANSWER_SECONDS:g} s") from None

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while line := await reader.readline():
                self._hear(json.loads(line))
        gone = self._gone("the supervisor has gone, and every process of the lab with it")
        everyone: list[asyncio.Future[Any]] = [self._ready, *self._answers.values(), *self.children.values()]
        for waiting in everyone:
            if not waiting.done():
                waiting.set_exception(gone)
                waiting.exception()  # read here, so that one which nobody awaits is not reported as lost

    def _hear(self, message: dict[str, Any]) -> None:
        if message.get("event") == "ready":
            self._ready.set_result(None)
        elif message.get("event") == "exit":
            self.children[message["pid"]].set_result(message["code"])
        else:
            self._settle(self._answers.pop(message["id"]), message)

    def _settle(self, answer: asyncio.Future[dict[str, Any]], message: dict[str, Any]) -> None:
        if pid := message.get("pid"):
            self.children[pid] = asyncio.get_running_loop().create_future()
        if answer.done():  # cancelled, or past its deadline
            return
        if problem := message.get("error"):
            answer.set_exception(OSError(problem))
        else:
            answer.set_result(message)

    def _gone(self, message: str) -> LabError:
        return LabError(message, where=str(self.log), log_tail=tail(self.log))
