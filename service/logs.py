"""Structured logs: one JSON object a line on stderr, each with the id of the request it belongs to."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

import msgspec

REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
_ENCODE: Final = msgspec.json.Encoder().encode


class JsonLines(logging.Formatter):
    """Format a record as one JSON object; what `extra={"facts": {...}}` carries stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for `record`."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (request := REQUEST_ID.get()) is not None:
            line["requestId"] = request
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _ENCODE(line).decode()


def configure(level: int = logging.INFO) -> None:
    """Send every logger's records to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
