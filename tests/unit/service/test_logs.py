"""A log line is one JSON object, with the request that it belongs to and what is known beside the message."""

from __future__ import annotations

import json
import logging
import sys

from service.logs import REQUEST_ID, JsonLines


def _line(**more: object) -> dict[str, object]:
    record = logging.LogRecord("service.web", logging.WARNING, __file__, 1, "refused %s", ("twice",), None)
    for name, value in more.items():
        setattr(record, name, value)
    text = JsonLines().format(record)
    assert "\n" not in text
    parsed: dict[str, object] = json.loads(text)
    return parsed


def test_a_line_carries_level_message_facts_and_request() -> None:
    token = REQUEST_ID.set("request-1")
    line = _line(facts={"code": "DATABASE_BUSY"})
    REQUEST_ID.reset(token)
    assert line["message"] == "refused twice"
    assert (line["level"], line["code"], line["requestId"]) == ("warning", "DATABASE_BUSY", "request-1")
    assert "requestId" not in _line()


def test_a_traceback_stays_within_its_line() -> None:
    try:
        int("a\nb")
    except ValueError:
        line = _line(exc_info=sys.exc_info())
    assert "ValueError: invalid literal" in str(line["traceback"])
