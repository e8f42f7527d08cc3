"""The words that runner and load process exchange over the control socket: one JSON line a message."""

from __future__ import annotations

import msgspec

from scenarios.plan import LoadPlan

CONTROL_VARIABLE = "LASTSEAT_LOAD_CONTROL"
SHARD_VARIABLE = "LASTSEAT_LOAD_SHARD"
PAGE_VARIABLE = "LASTSEAT_LOAD_PAGE"
"""Names the Unix socket on which Locust's page hears the load processes; without it they tell no page."""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How many operations have ended, how, how many arrivals found no free buyer, and how many are through.

    An arrival is through when its buyer does nothing more, or when there was none for it: of all arrivals those are the
    share of the load that is done, however many operations each of them took.
    """

    done: int = 0
    ok: int = 0
    fail: int = 0
    info: int = 0
    dropped: int = 0
    through: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            done=self.done + other.done,
            ok=self.ok + other.ok,
            fail=self.fail + other.fail,
            info=self.info + other.info,
            dropped=self.dropped + other.dropped,
            through=self.through + other.through,
        )


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """A load process is up and claims its shard; it asks for its plan."""

    shard: int
    pid: int


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """This shard has its plan and its journal, and waits for t0."""

    shard: int


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """Where this shard stands, a few times a second."""

    shard: int
    tally: Tally


class Health(msgspec.Struct, frozen=True, kw_only=True, tag="health"):
    """How the load process fared since the last such message, with a reading of both its clocks.

    `arrivals` counts those who were due so far, `dropped` those among them who found no free buyer.
    """

    shard: int
    mono_ns: int
    real_ns: int
    slack_ns: int
    lag_p50_us: float
    lag_p99_us: float
    lag_max_us: float
    cpu_share: float
    arrivals: int
    dropped: int


class Finished(msgspec.Struct, frozen=True, kw_only=True, tag="finished"):
    """Every arrival was played and every operation ended; the lag is over the whole run."""

    shard: int
    tally: Tally
    began_ns: int
    ended_ns: int
    lag_p99_us: float
    cpu_seconds: float


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The load cannot go on, and why; everything sent until now stands in the journal."""

    shard: int
    sentence: str


class Part(msgspec.Struct, frozen=True, kw_only=True, tag="part"):
    """What this shard is to play, and the file that it writes its output to from now on.

    The plan holds tokens, which is why it travels here and never lies in a file.
    """

    plan: LoadPlan
    log: str


class Go(msgspec.Struct, frozen=True, kw_only=True, tag="go"):
    """The run's zero of time: an instant of CLOCK_MONOTONIC."""

    t0_ns: int


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """Begin nothing new; wait for what is under way, and finish."""


FromLoad = Hello | Ready | Progress | Health | Finished | Failed
ToLoad = Part | Go | Stop

_ENCODER = msgspec.json.Encoder()
_FROM_LOAD = msgspec.json.Decoder(FromLoad)
_TO_LOAD = msgspec.json.Decoder(ToLoad)


def line(message: FromLoad | ToLoad) -> bytes:
    """Return the message as it goes over the socket."""
    return _ENCODER.encode(message) + b"\n"


def from_load(raw: bytes) -> FromLoad:
    """Read what a load process said; raises msgspec.ValidationError."""
    return _FROM_LOAD.decode(raw)


def to_load(raw: bytes) -> ToLoad:
    """Read what the runner said; raises msgspec.ValidationError."""
    return _TO_LOAD.decode(raw)
