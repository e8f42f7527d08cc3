"""What observed a run from outside, by hand: clocks, snapshots, faults, samples and the provider's ledger."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.oracle.by_hand.instants import FIRST_XID, MS, REAL_AHEAD_NS, T0_NS, ns_at


@dataclass(kw_only=True)
class Watched:
    """Collects what was observed; times in ms after t0."""

    snapshots: list[dict[str, Any]] = field(default_factory=list)
    clocks: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    effects: list[dict[str, Any]] = field(default_factory=list)
    xid_offset: int = 0

    def clock(self, process: str, at: float, *, stepped_ms: float = 0, slack_ms: float = 0.01) -> None:
        mono = T0_NS + round(at * MS)
        self.clocks.append(
            {
                "process": process,
                "mono_ns": mono,
                "real_ns": mono + REAL_AHEAD_NS + round(stepped_ms * MS),
                "slack_ns": round(slack_ms * MS),
            }
        )

    def fault(
        self,
        name: str,
        *,
        landed: float | None,
        healed: float | None = 20,
        error: str | None = None,
        injected: float | None = None,
    ) -> None:
        self.faults.append(
            {
                "fault": name,
                "kind": "cut",
                "where": "redis-a",
                "planned_ns": T0_NS,
                "injected_ns": ns_at(landed if injected is None else injected),
                "landed_ns": None if landed is None else T0_NS + round(landed * MS),
                "healed_ns": None if healed is None else T0_NS + round(healed * MS),
                "proof": "ECONNREFUSED" if landed is not None else None,
                "error": error,
            }
        )

    def sample(self, source: str, metric: str, value: float, at: float = 0) -> None:
        self.samples.append(
            {"mono_ns": T0_NS + round(at * MS), "source": source, "metric": metric, "value": value}
        )

    def snapshot(self, at: float, *, sees: list[int], running: list[int] = []) -> None:  # noqa: B006 - never changed
        """A snapshot at this time that sees some transactions and finds others running; later ones have not begun."""
        known = [*sees, *running]
        instant = T0_NS + round(at * MS)
        xmax = max(known, default=FIRST_XID - 1) + 1
        self.snapshots.append(
            {
                "asked_ns": instant,
                "answered_ns": instant + MS // 10,
                "xmin": min(running, default=xmax) + self.xid_offset,
                "xmax": xmax + self.xid_offset,
                "xip": [xid + self.xid_offset for xid in running],
            }
        )
