"""Prints how each route of Locust's page answers to each method, as JSON; in a process of its own, which Locust patches."""

from __future__ import annotations

from scenarios.dispatch import page  # isort: skip — before anything else: it patches sockets and threads

import json
import sys

from werkzeug.test import Client


def main() -> None:
    app = page.application(page.onlooker("a_story"), port=0)
    visitor = Client(page.shown_only(app))
    answers = [
        (method, rule.rule, visitor.open(rule.rule, method=method).status_code)
        for rule in app.url_map.iter_rules()
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    ]
    sys.stdout.write(json.dumps({"shown": sorted(page.SHOWN), "answers": answers}))


if __name__ == "__main__":
    main()
