"""The service never passes a time of its own to a statement: the database's clock decides."""

from __future__ import annotations

import ast
from pathlib import Path

SERVICE = Path(__file__).parents[3] / "service"
# Where a time may come from: the parameter of the same function, or a row that the database has just given.
PASSED_ON = {"at", "now", "action.at", "hold['at']", "offer['at']", "entry['at']", "reservation['at']"}
FROM_THE_DATABASE = "await resources.clock("
ENTRIES = (
    "handlers.py",
    "sweeper.py",
    "notifier.py",
    "workers.py",
    "once.py",
    "routes.py",
    "app.py",
    "web.py",
)


def _calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]


def test_nothing_but_what_the_database_said_is_passed_as_a_time() -> None:
    given = {
        ast.unparse(keyword.value)
        for path in SERVICE.rglob("*.py")
        for call in _calls(path)
        for keyword in call.keywords
        if keyword.arg == "at"
    }
    assert given
    assert given <= PASSED_ON | {"None"}


def test_a_now_is_always_the_databases() -> None:
    for path in (SERVICE / "reservation").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "now":
                assert ast.unparse(node.value).startswith(FROM_THE_DATABASE), path


def test_no_entry_into_the_service_gives_a_time() -> None:
    for path in SERVICE.rglob("*.py"):
        if path.name in ENTRIES:
            assert not [
                call for call in _calls(path) if any(keyword.arg == "at" for keyword in call.keywords)
            ], path


def test_no_rule_reads_the_nodes_clock() -> None:
    for path in (SERVICE / "reservation").rglob("*.py"):
        text = path.read_text()
        assert "datetime.now" not in text, path
        assert "time.time" not in text, path
