"""How a run can end, and the two errors that end it before a verdict exists."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the shell sees; automation reads these and nothing else."""

    VALID = 0
    VIOLATED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    LAB_FAILED = 4


class UsageError(Exception):
    """The request itself cannot be met: an unknown name, an impossible value, a server that may not be used."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, *, remedy: str = "") -> None:
        """`remedy` is what to do about it, one sentence."""
        super().__init__(f"{message}\n  {remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy


class EvidenceRefused(UsageError):  # noqa: N818 - it says what is the case
    """A run folder that was named rightly, and whose evidence is not what a run leaves: it says nothing of the service."""

    exit_code = ExitCode.LAB_FAILED


class LabError(Exception):
    """A part of the lab could not be started, watched or stopped."""

    exit_code = ExitCode.LAB_FAILED

    def __init__(self, message: str, *, where: str = "", remedy: str = "", log_tail: str = "") -> None:
        """`where` is a path or an address, `remedy` what to do, `log_tail` the last lines the part wrote."""
        lines = [message]
        if where:
            lines.append(f"  where: {where}")
        if remedy:
            lines.append(f"  remedy: {remedy}")
        if log_tail:
            lines.append("  its last lines:")
            lines.extend(f"    {line}" for line in log_tail.splitlines())
        super().__init__("\n".join(lines))
        self.message = message
        self.where = where
        self.remedy = remedy
        self.log_tail = log_tail
