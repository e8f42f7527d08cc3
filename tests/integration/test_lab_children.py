"""Processes started in the lab: their output, signals, ends and second lives."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from lastseat.children import Start
from lastseat.errors import LabError
from lastseat.supervision import Supervision
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lastseat.children import Child
    from lastseat.lab import Lab

# It would live for ten minutes: that it is gone within seconds is then somebody's doing.
SLEEP = (sys.executable, "-S", "-c", "import time; print('up', flush=True); time.sleep(600)")


async def up(child: Child) -> Child:
    async def said_so() -> bool | None:
        return True if "up" in child.log.read_text() else None

    await until(said_so, within_seconds=10, failing=lambda _: child.error("the child did not come up"))
    return child


async def reaches(process: psutil.Process, status: str) -> None:
    async def has_it() -> bool | None:
        return process.status() == status or None

    await until(has_it, within_seconds=5, failing=lambda _: LabError(f"{process} is not {status}"))


def first_outgoing_port() -> int:
    return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])


def python(code: str) -> Sequence[str]:
    return (sys.executable, "-S", "-c", code)


async def test_a_child_has_the_marker_its_environment_and_a_log_in_the_run_folder(lab: Lab) -> None:
    code = "import os; print(os.environ['LASTSEAT_LAB'], os.environ['SEATS'])"
    child = await lab.spawn("printer", python(code), env={"SEATS": "3"}, log="print.log")
    assert await child.wait(10) == 0
    assert (lab.folder / "logs" / "print.log").read_text() == f"{lab.environment_marker} 3\n"


async def test_exit_codes_and_signals_are_told_apart(lab: Lab) -> None:
    failed = await lab.spawn("failing", python("raise SystemExit(7)"))
    killed = await lab.spawn("sleeper", SLEEP)
    assert (killed.exited, killed.exit_code) == (False, None)
    assert await killed.kill() == -signal.SIGKILL
    assert await failed.wait(10) == 7
    assert (failed.exited, failed.exit_code) == (True, 7)


async def test_waiting_for_a_child_has_a_deadline_that_names_it(lab: Lab) -> None:
    child = await lab.spawn("sleeper", SLEEP, log="sleeper-deadline.log")
    with pytest.raises(LabError, match=r"sleeper did not end within 0\.1 s"):
        await child.wait(0.1)
    await child.kill()


async def test_a_stopped_child_can_be_resumed_and_killed(lab: Lab) -> None:
    child = await up(await lab.spawn("sleeper", SLEEP, log="sleeper-stopped.log"))
    process = psutil.Process(child.pid)
    for number, status in ((signal.SIGSTOP, psutil.STATUS_STOPPED), (signal.SIGCONT, psutil.STATUS_SLEEPING)):
        child.signal(number)
        await reaches(process, status)
    child.signal(signal.SIGSTOP)
    assert await child.kill() == -signal.SIGKILL


async def test_a_signal_to_the_whole_group_reaches_the_childs_own_children(lab: Lab) -> None:
    # Both would live for ten minutes, as SLEEP does.
    code = "import os,time; os.fork(); print('up', flush=True); time.sleep(600)"
    child = await up(await lab.spawn("forking", python(code)))
    (grandchild,) = psutil.Process(child.pid).children()
    child.signal(signal.SIGKILL, whole_group=True)
    await child.wait(5)
    assert psutil.wait_procs([grandchild], timeout=5)[1] == []


async def test_a_child_starts_again_with_the_same_arguments(lab: Lab) -> None:
    first = await up(await lab.spawn("sleeper", SLEEP, log="sleeper-again.log"))
    with pytest.raises(LabError, match="still runs"):
        await first.respawn()
    await first.kill()
    second = await first.respawn()
    assert second.pid != first.pid
    assert second.start == first.start
    await second.kill()


async def test_a_signal_to_a_child_that_has_ended_goes_nowhere(lab: Lab) -> None:
    child = await lab.spawn("brief", python(""))
    await child.wait(10)
    child.signal(signal.SIGKILL)
    assert await lab.supervision._ask(
        do="signal", pid=os.getpid(), signal=int(signal.SIGKILL), group=False
    ) == {
        "id": lab.supervision._requests,
        "sent": False,
    }


async def test_a_program_that_does_not_exist_is_named(lab: Lab) -> None:
    with pytest.raises(LabError, match=r"ghost could not be started.*No such file"):
        await lab.spawn("ghost", ["/nowhere/ghost"])


async def test_ports_are_given_to_nobody_twice_and_lie_below_the_outgoing_ones(lab: Lab) -> None:
    given = [lab.free_port() for _ in range(200)]
    assert len(set(given)) == 200
    assert max(given) < first_outgoing_port()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_lab_whose_supervisor_was_killed_or_stopped_is_ended_by_the_runner(
    tmp_path: Path, number: signal.Signals
) -> None:
    marker = secrets.token_hex(8)
    folder = tmp_path / f"lastseat-{marker}"
    supervision = await Supervision.begin(folder=folder, marker=marker, log=tmp_path / "supervisor.log")
    start = Start(
        role="sleeper", argv=SLEEP, env=dict(os.environ), cwd=tmp_path, log=tmp_path / "sleeper.log"
    )
    child = psutil.Process((await up(await supervision.spawn(start))).pid)
    supervision.process.send_signal(number)
    await supervision.end()
    assert not folder.exists()
    _, alive = psutil.wait_procs([child], timeout=5)
    assert alive == []
