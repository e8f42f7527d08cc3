"""The locustfile: one Locust user a process, the dispatcher, which plays this process's part of the load plan."""

from __future__ import annotations

from locust import User, task  # isort: skip — before anything else: it patches sockets and threads

import logging
import os

import gevent
from locust.exception import StopUser

from scenarios.control import PAGE_VARIABLE, SHARD_VARIABLE
from scenarios.dispatch.session import Session
from scenarios.recorder import Recorder


class Dispatcher(User):
    """Sends everyone on their way; buyers are greenlets of its own."""

    fixed_count = 1

    @task
    def play(self) -> None:
        """Play the plan once, then end this Locust with 0, or 1 if the load could not go on. Raises StopUser."""
        played = False
        if hearing := os.environ.get(PAGE_VARIABLE):
            from scenarios.dispatch.reporter import report  # noqa: PLC0415 — without a page there is none to tell

            gevent.spawn(report, self.environment, os.environ[SHARD_VARIABLE], hearing)
        try:
            played = Session(os.environ, Recorder(self.environment)).play()
        except Exception:
            logging.getLogger(__name__).exception("the load process could not go on")
        finally:
            self.environment.process_exit_code = 0 if played else 1
            gevent.spawn(self.environment.runner.quit)  # not from within the user that it ends
        raise StopUser  # Locust would have it play again until then
