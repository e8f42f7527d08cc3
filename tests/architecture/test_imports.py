"""The rooms import one way, and what changes a whole process stays where it belongs."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.api import read_configuration
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
ROOMS = ("service", "scenarios", "chaos", "checker", "reports", "lastseat")

# Importing Locust patches the process: sockets, threads, sleep.
LOCUST_SIDE = ("scenarios/buyers/", "scenarios/dispatch/", "scenarios/recorder.py", "scenarios/locustfile.py")

# Imports each module in turn and stops at the first after which a forbidden one is there.
IMPORT_IN_TURN = """
import importlib, json, sys
modules, forbidden = json.loads(sys.argv[1])
for module in modules:
    importlib.import_module(module)
    for name in forbidden:
        if name in sys.modules:
            sys.exit(f"importing {module} imports {name}")
"""


def sources(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(text: str) -> set[str]:
    """The top-level packages that a module imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def importers(package: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in sources(*ROOMS) if package in imported(path.read_text())}


def import_in_turn(modules: list[str], *forbidden: str) -> str:
    """Import modules in a fresh process and return what it complained of."""
    ended = subprocess.run(
        [sys.executable, "-c", IMPORT_IN_TURN, json.dumps([modules, forbidden])],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    return ended.stderr.strip() if ended.returncode else ""


def on_the_locust_side(path: Path) -> bool:
    return str(path.relative_to(ROOT)).startswith(LOCUST_SIDE)


def test_imports_are_found_wherever_they_stand() -> None:
    hidden = (
        "if x:\n    import locust.env\ndef f():\n    from toxiproxy.api import A\n    from . import near\n"
    )
    assert imported(hidden) == {"locust", "toxiproxy"}


def test_the_contracts_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True, no_logo=True) == 0


def test_the_contracts_cover_every_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    read = read_configuration()
    layered = [row for contract in read["contracts_options"] for row in contract.get("layers", [])]
    assert {room.strip() for row in layered for room in row.split("|")} == set(ROOMS)
    assert set(read["session_options"]["root_packages"]) == set(ROOMS)


def test_one_file_knows_the_proxys_client() -> None:
    assert importers("toxiproxy") == {"chaos/network.py"}


@pytest.mark.parametrize("package", ["locust", "gevent"])
def test_only_the_load_process_imports(package: str) -> None:
    assert importers(package)
    assert not {path for path in importers(package) if not path.startswith(LOCUST_SIDE)}


def test_nothing_else_pulls_the_patching_of_a_process_in() -> None:
    modules = [
        name_of(path)
        for path in sources(*ROOMS)
        if not on_the_locust_side(path) and path.name != "__main__.py"
    ]
    assert import_in_turn(modules, "locust", "gevent") == ""


def test_an_import_that_pulls_something_in_is_named() -> None:
    assert import_in_turn(["json", "asyncio"], "asyncio") == "importing asyncio imports asyncio"


def first_imported(text: str) -> str:
    """The package of the first import of a module that does something, as `from __future__` does not."""
    for node in ast.walk(ast.parse(text)):  # the statements of the module itself come first, in their order
        if isinstance(node, ast.Import):
            return node.names[0].name.partition(".")[0]
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            return (node.module or "").partition(".")[0]
    return ""


def test_the_first_import_is_found_past_the_future() -> None:
    assert first_imported("from __future__ import annotations\nimport os\nfrom locust import User\n") == "os"


def test_the_locustfile_imports_locust_before_anything_else() -> None:
    """Locust patches sockets and threads; after `requests` that recursed without an end."""
    assert first_imported((ROOT / "scenarios/locustfile.py").read_text()) == "locust"


def test_the_rules_of_the_service_know_no_database_no_network_and_no_event_loop() -> None:
    rules = sorted((ROOT / "service").glob("*/rules.py"))
    assert rules
    assert import_in_turn([name_of(path) for path in rules], "asyncpg", "redis", "starlette", "asyncio") == ""
