"""The Arrow schemas of the evidence files in a run folder; all instants are CLOCK_MONOTONIC ns unless named `_us`."""

from __future__ import annotations

import pyarrow as pa

OPERATIONS = pa.schema(
    [
        ("op", pa.int64()),  # unique in the run: shard << 40 | sequence
        ("shard", pa.int32()),
        ("arrival", pa.int64()),  # global arrival id
        ("race", pa.int64()),  # the barrier it stood at; null outside races
        ("attempt", pa.int32()),  # 1 for the first try under a key
        ("kind", pa.string()),  # hold, confirm, cancel …
        ("node", pa.string()),  # the address label it was sent to
        ("tenant", pa.string()),
        ("owner", pa.string()),
        ("subject", pa.string()),  # the id in the path: a resource, hold, offer …
        ("quantity", pa.int64()),
        ("key", pa.string()),  # idempotency key
        ("request_digest", pa.string()),  # of method, path and body as sent
        ("intended_ns", pa.int64()),
        ("sent_ns", pa.int64()),  # null: journaled, never left
        ("done_ns", pa.int64()),  # null: never answered
        ("outcome", pa.string()),  # ok, fail, info
        ("status", pa.int32()),
        ("code", pa.string()),  # the service's own word for a refusal
        ("replayed", pa.bool_()),
        ("created", pa.string()),  # id of what the answer says was made
        ("body_digest", pa.string()),
        ("error", pa.string()),  # timeout, reset, eof, refused …
    ]
)

# changes/<table>.parquet and base/<table>.parquet: these, then the table's own columns as text, prefixed `new_`. On D only
# the key columns are filled, on T none; the row before comes from folding by key. A change of the key is two changes: a
# D of the old key, then an I of the new row. In base/ LSNs are 0 and xid and commit_us null. state/<table>.parquet has the
# `new_` columns alone; its own metadata keeps the pg_current_snapshot() it was read in, under `snapshot`, and when, under `read_us`.
# After the head changes/ has `old_digest`, the digest of the row before as the change itself told it (see checker.trail.parts).
CHANGE_HEAD = pa.schema(
    [
        ("commit_lsn", pa.uint64()),
        ("position", pa.int64()),  # of the change among all changes of its transaction, in all tables, from 0
        ("change_lsn", pa.uint64()),
        ("xid", pa.uint32()),
        ("commit_us", pa.int64()),  # database clock, µs since the epoch; before fsync: a lower bound
        ("action", pa.string()),  # I, U, D, T (truncate), B (stood there when the slot was made)
    ]
)

FAULTS = pa.schema(
    [
        ("fault", pa.string()),
        ("kind", pa.string()),
        ("where", pa.string()),  # link or process
        ("planned_ns", pa.int64()),
        ("injected_ns", pa.int64()),
        ("landed_ns", pa.int64()),
        ("healed_ns", pa.int64()),
        ("proof", pa.string()),  # what the probe saw
        ("error", pa.string()),
    ]
)

CLOCKS = pa.schema(
    [("process", pa.string()), ("mono_ns", pa.int64()), ("real_ns", pa.int64()), ("slack_ns", pa.int64())]
)

# pg_current_snapshot(), taken on a direct connection between the two instants.
SNAPSHOTS = pa.schema(
    [
        ("asked_ns", pa.int64()),
        ("answered_ns", pa.int64()),
        ("xmin", pa.uint64()),
        ("xmax", pa.uint64()),
        ("xip", pa.list_(pa.uint64())),
    ]
)

SAMPLES = pa.schema(
    [("mono_ns", pa.int64()), ("source", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
)

# One row a load process and second: how the generator itself fared.
EFFECTS = pa.schema(
    [
        ("provider", pa.string()),
        ("effect", pa.string()),  # the dedupe id
        ("received_ns", pa.int64()),
        ("answer", pa.string()),  # accepted, duplicate, declined …
        ("payload", pa.string()),
    ]
)
