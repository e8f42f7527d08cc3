"""Locust's own page in a process of its own: it hears what the load processes did, and can tell them nothing."""

from __future__ import annotations

from locust.env import Environment  # isort: skip — before anything else: it patches sockets and threads

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import gevent
import msgspec
from gevent import pywsgi, socket
from gevent.server import StreamServer
from locust.runners import STATE_RUNNING, Runner
from locust.stats import setup_distributed_stats_event_listeners, stats_history

from scenarios.control import PAGE_VARIABLE
from scenarios.page import HOST, PORT_VARIABLE, TITLE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SHOWN: Final = frozenset(
    {
        "/",
        "/exceptions",
        "/exceptions/csv",
        "/logs",
        "/stats/failures/csv",
        "/stats/report",
        "/stats/requests",
        "/stats/requests/csv",
        "/tasks",
        "/worker-count",
    }
)
"""What may be looked at, besides the page's own files; whatever else Locust offers, now or later, is refused."""
ASSETS: Final = "/assets/"
REFUSED: Final = (
    b"This page only shows: the load is led by `lastseat run`, and cannot be changed from here.\n"
)

UNSEEN: Final = b"<style>header .MuiButton-contained { display: none }</style></head>"
"""Takes the buttons for editing, stopping and resetting from a browser's sight; pressed, they would be refused."""

_BATCH_BYTES_MAX = 1 << 20
_HEARD_SECONDS = 5.0


class Onlooker(Runner):
    """What Locust's page takes for a runner: it has no users, and starts and stops nothing."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.told_by: set[str] = set()
        self.update_state(STATE_RUNNING)

    @property
    def user_count(self) -> int:
        """How many load processes have told something: each is one Locust user, the dispatcher."""
        return len(self.told_by)

    def start(self, *_args: Any, **_options: Any) -> None:
        """Start nobody: the load has begun, or will, without this page."""

    def send_message(self, *_args: Any, **_options: Any) -> None:
        """Tell nobody anything."""


def onlooker(title: str) -> Onlooker:
    """Return what Locust's page shows: statistics that only grow by what load processes tell."""
    environment = Environment(locustfile="lastseat", host=title)
    environment.runner = looking = Onlooker(environment)
    environment.stats.clear_all()  # which is where time begins for Locust's averages
    setup_distributed_stats_event_listeners(environment.events, environment.stats)
    return looking


def shown_only(app: Callable[..., Any]) -> Callable[..., Any]:
    """Let nobody come to the page's application but those who look."""

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if method in {"GET", "HEAD"} and (path in SHOWN or path.startswith(ASSETS)):
            answered: Iterable[bytes] = app(environ, start)
            return answered
        start("403 Forbidden", [("Content-Type", "text/plain"), ("Content-Length", str(len(REFUSED)))])
        return [REFUSED]

    return answer


def application(looking: Onlooker, port: int) -> Any:
    """Return Locust's page as a WSGI application, before what keeps it from changing anything."""
    app: Any = looking.environment.create_web_ui(host=HOST, port=port, delayed_start=True).app
    app.after_request(_without_buttons)
    return app


def _without_buttons(response: Any) -> Any:
    if response.mimetype == "text/html":
        response.set_data(response.get_data().replace(b"</head>", UNSEEN))
    return response


def hear(looking: Onlooker, reporter: socket.socket) -> None:
    """Take one batch of one load process, which is all that it says on one connection."""
    reporter.settimeout(_HEARD_SECONDS)
    with reporter.makefile("rb") as said:
        raw = said.read(_BATCH_BYTES_MAX)
    if raw:  # a runner that only asks whether anybody is there says nothing
        try:
            shard, batch = msgspec.msgpack.decode(raw)
        except msgspec.DecodeError as odd:  # cut off by its writer's end, or by the limit
            sys.stderr.write(f"a batch of {len(raw)} bytes was not understood: {odd}\n")
            return
        looking.told_by.add(shard)
        fire: Any = looking.environment.events.worker_report.fire
        fire(client_id=shard, data=batch)


def main() -> None:
    """Serve the page until this process is ended; raises OSError where the port is not free."""
    port, hearing = int(os.environ[PORT_VARIABLE]), os.environ[PAGE_VARIABLE]
    looking = onlooker(os.environ[TITLE_VARIABLE])
    server = pywsgi.WSGIServer((HOST, port), shown_only(application(looking, port)), log=None)
    server.start()
    gevent.spawn(stats_history, looking)
    ear = socket.socket(socket.AF_UNIX)
    ear.bind(hearing)  # only now: who finds it there may tell people of the page
    ear.listen()
    StreamServer(ear, lambda reporter, _address: hear(looking, reporter)).serve_forever()


if __name__ == "__main__":
    main()
