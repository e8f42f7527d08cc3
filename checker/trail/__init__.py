"""The trail: every committed row change of a run, in commit order, read by logical decoding."""

from checker.trail.decode import DecodeError, to_parquet
from checker.trail.polling import Pace
from checker.trail.record import TrailRecord, TrailStatus, read_record
from checker.trail.slot import NoTrailError, TrailError, clean
from checker.trail.spool import SpoolError
from checker.trail.trail import Trail

__all__ = [
    "DecodeError",
    "NoTrailError",
    "Pace",
    "SpoolError",
    "Trail",
    "TrailError",
    "TrailRecord",
    "TrailStatus",
    "clean",
    "read_record",
    "to_parquet",
]
