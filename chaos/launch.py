"""`python -m chaos.launch [OPTIONS] -- MODULE ARGS…`: run a module, tampered with.

The clock is shifted, the bug and the crash points are planted before the module runs as `__main__`, in this process
and with its own arguments, so that its code needs no hook for any of them.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from typing import TYPE_CHECKING

from chaos import clock, crash_points

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "python -m chaos.launch [--mutant NAME] [--clock-offset SECONDS] [--crash-at POINT …] -- MODULE ARGS…"


def launch(arguments: Sequence[str]) -> None:
    """Tamper with this process and run the module in it; exits with 2 where the arguments make no sense."""
    own, (module, *its) = _split(arguments)
    if own.clock_offset:
        clock.shift(own.clock_offset)
    if own.mutant is not None:
        _plant(own.mutant)
    for spelled in own.crash_at:
        _plant_crash(spelled)
    sys.argv = [module, *its]  # runpy puts the module's file in the first place
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _split(arguments: Sequence[str]) -> tuple[argparse.Namespace, Sequence[str]]:
    parser = argparse.ArgumentParser(prog="chaos.launch", usage=USAGE)
    parser.add_argument("--mutant", metavar="NAME", help="the bug to plant")
    parser.add_argument(
        "--clock-offset", metavar="SECONDS", type=float, default=0.0, help="how wrong its clock is"
    )
    parser.add_argument(
        "--crash-at",
        metavar="MODULE:FUNCTION[:before|after][:N]",
        action="append",
        default=[],
        help="the call of a function at which this process kills itself; may be given again",
    )
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    own = parser.parse_args(arguments[:end])
    command = arguments[end + 1 :]
    if not command:
        parser.error("no module to run: write -- MODULE ARGS… at the end")
    return own, command


def _plant(name: str) -> None:
    from chaos import mutants  # noqa: PLC0415 - imports the service, which must see the shifted clock

    try:
        mutants.plant(name)
    except (mutants.UnknownMutant, mutants.BrokenMutant) as error:
        sys.stderr.write(f"chaos.launch: {error}\n")
        raise SystemExit(2) from error


def _plant_crash(spelled: str) -> None:
    try:
        crash_points.plant(crash_points.read(spelled))
    except crash_points.CrashPointError as error:
        sys.stderr.write(f"chaos.launch: {error}\n")
        raise SystemExit(2) from error


if __name__ == "__main__":
    launch(sys.argv[1:])
