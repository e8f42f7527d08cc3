"""Tells Locust's page what this load process did: a batch a moment, and never a second one under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
import msgspec
from gevent import socket
from locust.stats import setup_distributed_stats_event_listeners

if TYPE_CHECKING:
    from locust.env import Environment

EVERY_SECONDS = 0.5
"""How often; what happens between is summed up by Locust, a line a kind of operation."""
_TAKEN_SECONDS = 5.0


def report(environment: Environment, shard: str, hearing: str) -> None:
    """Tell what happened until the page has gone, which is no matter of the load's."""
    setup_distributed_stats_event_listeners(environment.events, environment.stats)
    while True:
        gevent.sleep(EVERY_SECONDS)
        if environment.stats.total.num_requests and not _told(environment, shard, hearing):
            return


def _told(environment: Environment, shard: str, hearing: str) -> bool:
    with socket.socket(socket.AF_UNIX) as way:
        way.settimeout(_TAKEN_SECONDS)
        try:
            way.connect(hearing)
            batch: dict[str, Any] = {}
            sum_up: Any = environment.events.report_to_master.fire
            sum_up(client_id=shard, data=batch)
            way.sendall(msgspec.msgpack.encode((shard, batch)))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            pass  # a page that is busy has missed this batch, and may take the next
    return True
