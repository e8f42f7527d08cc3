"""The parent of every process of a lab; ends them all as soon as its runner is gone, however it went.

Started first, in a session of its own, so that the terminal's Ctrl-C reaches only the runner. It holds one end of a
socket pair; the other is the runner's. At end of file it sends SIGCONT to all, SIGQUIT to PostgreSQL (a SIGKILL would
leak its shared memory), SIGKILL to the rest, and removes the lab's folder, within two seconds. Standard library only:
it must start in milliseconds and survive whatever breaks in the runner.

Requests and answers are JSON, one a line. {"id", "do": "spawn" | "signal" | "end", …} → {"id", …} or {"id", "error"};
unasked: {"event": "ready" | "exit", …}.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from lastseat.borrowed import take_back
from lastseat.processes import (
    MARKER,
    adopt_orphans,
    descendants,
    die_with_parent,
    end_all,
    forget_shared_memory,
    send,
)

_RUNNER_CHECK_SECONDS = 0.25
_RESCAN_SECONDS = 0.02


class Supervisor:
    """One lab's processes; single-threaded, since the parent-death signal is tied to the thread that forks."""

    def __init__(self, link: socket.socket, folder: Path, marker: str) -> None:
        """Take the runner's link, a folder that this process creates and removes, and the lab's marker."""
        self.link = link
        self.folder = folder
        self.marker = marker
        self.runner = os.getppid()
        self.children: dict[int, dict[str, Any]] = {}
        self.data_folders: set[Path] = set()
        self.received = b""
        self.ending = False
        self.wakeup, wakeup_in = os.pipe()
        for end in (self.wakeup, wakeup_in):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakeup_in, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked_to_end)

    def _asked_to_end(self, *_: object) -> None:
        self.ending = True

    def run(self) -> None:
        """Serve the runner until it ends, then leave nothing."""
        self.folder.mkdir()  # before the try: a folder that was there already is not ours to remove
        lock = os.open(self.folder / "lab.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            self.folder.chmod(0o711)  # the unprivileged servers pass through it to their own folders
            fcntl.flock(lock, fcntl.LOCK_EX)
            adopt_orphans()
            self._describe()
            self._tell({"event": "ready", "pid": os.getpid()})
            while not self.ending:
                self._serve_once()
        finally:
            self._end_everything()
            os.close(lock)

    def _describe(self) -> None:
        about = {
            "marker": self.marker,
            "supervisor": os.getpid(),
            "started": time.time(),
            "runner": self.runner,
        }
        (self.folder / "lab.json").write_text(json.dumps(about))

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # the runner is gone: the next read says so
            self.link.sendall(json.dumps(message).encode() + b"\n")

    def _serve_once(self) -> None:
        link = self.link.fileno()
        ready, _, _ = select.select([link, self.wakeup], [], [], _RUNNER_CHECK_SECONDS)
        if os.getppid() != self.runner:  # a forked copy of the runner may still hold its end of the link open
            self.ending = True
            return
        if self.wakeup in ready:
            self._drain_wakeups()
            self._reap()
        if link in ready:
            self._receive()

    def _drain_wakeups(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.wakeup, 4096):
                pass

    def _receive(self) -> None:
        try:
            received = self.link.recv(65536)
        except OSError:
            received = b""
        if not received:
            self.ending = True
        *lines, self.received = (self.received + received).split(b"\n")
        for line in lines:
            self._answer(json.loads(line))

    def _answer(self, request: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"id": request["id"]}
        try:
            if request["do"] == "spawn":
                answer["pid"] = self._spawn(request)
            elif request["do"] == "signal":
                answer["sent"] = self._signal(request)
            else:
                self.ending = True
        except (OSError, subprocess.SubprocessError, ValueError) as problem:
            answer["error"] = str(problem)
        self._tell(answer)

    def _spawn(self, request: dict[str, Any]) -> int:
        last_words = signal.SIGQUIT if request["postmaster"] else signal.SIGKILL

        def tie_to_parent() -> None:
            die_with_parent(last_words)
            if os.getppid() != supervisor:  # it died before the tie was made
                os._exit(1)

        supervisor = os.getpid()
        unprivileged = request["uid"] is not None
        with Path(request["log"]).open("ab") as log:
            child = subprocess.Popen(  # noqa: S603 - what the runner asks for
                request["argv"],
                env={**request["env"], MARKER: self.marker},
                cwd=request["cwd"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=0o077 if unprivileged else -1,
                preexec_fn=tie_to_parent,  # noqa: PLW1509 - safe: this process has one thread
                user=request["uid"],
                group=request["gid"],
                extra_groups=() if unprivileged else None,
            )
        if request["data_folder"]:
            self.data_folders.add(Path(request["data_folder"]))
        self.children[child.pid] = {"process": child, "postmaster": request["postmaster"]}
        return child.pid

    def _signal(self, request: dict[str, Any]) -> bool:
        pid = request["pid"]
        if pid not in self.children:  # reaped: the number may be another's by now
            return False
        if request["group"]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, request["signal"])
                return True
            return False
        return send(pid, request["signal"])

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if child := self.children.pop(pid, None):
                code = os.waitstatus_to_exitcode(status)
                child["process"].returncode = code
                self._tell({"event": "exit", "pid": pid, "code": code})

    def _end_everything(self) -> None:
        with contextlib.suppress(
            OSError
        ):  # where the machine is overrun and the user is root, the end comes first
            os.setpriority(os.PRIO_PROCESS, 0, -10)
        postmasters = {pid for pid, child in self.children.items() if child["postmaster"]}
        end_all(lambda: descendants(os.getpid()), postmasters, self._await_deaths)
        for data_folder in self.data_folders:
            forget_shared_memory(data_folder)
        if take_back(self.folder, self.marker):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _await_deaths(self) -> None:
        select.select([self.wakeup], [], [], _RESCAN_SECONDS)
        self._drain_wakeups()
        self._reap()


def main() -> None:
    """Run as `supervise FD FOLDER MARKER`; see lastseat.supervision for the other side."""
    descriptor, folder, marker = sys.argv[1:4]
    link = socket.socket(fileno=int(descriptor))
    os.set_inheritable(link.fileno(), False)
    Supervisor(link, Path(folder), marker).run()
