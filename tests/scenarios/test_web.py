"""A run with Locust's page, as a user types it: the page counts while the load lasts, and the verdict is as without it."""

from __future__ import annotations

import csv
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

LASTSEAT = str(Path(sys.executable).with_name("lastseat"))
STORY = ("run", "limit_bypass")
DEADLINE_SECONDS = 100

pytestmark = pytest.mark.timeout(240)


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:
        return str(answer.read().decode())


def counted(url: str) -> set[str]:
    """Which operations the page counted so far; as CSV, which Locust does not keep for others who ask."""
    rows = csv.DictReader(read(f"{url}/stats/requests/csv").splitlines())
    return {row["Name"] for row in rows if int(row["Request Count"])}


def test_the_page_is_there_while_the_load_lasts_and_the_verdict_is_as_without_it(
    tmp_path: Path, typed: Callable[..., Any]
) -> None:
    plain = typed(*STORY)
    with subprocess.Popen(
        [LASTSEAT, *STORY, "--web"],
        env={**os.environ, "LASTSEAT_RUNS": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout is not None
        said = next(line for line in run.stdout if "http://" in line)
        url = re.sub(r".*(http://\S+)\s*", r"\1", said)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while "hold" not in counted(url):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        shown = json.loads(read(f"{url}/stats/requests"))
        port = int(url.rpartition(":")[2])
        with pytest.raises(OSError, match=r"."):
            socket.create_connection(("127.0.0.2", port), timeout=1).close()
        rest = run.stdout.read()
        code = run.wait(DEADLINE_SECONDS)
    assert url.startswith("http://127.0.0.1:")
    assert {row["name"] for row in shown["stats"]} >= {"hold", "Aggregated"}
    assert all(row["num_requests"] > 0 for row in shown["stats"])
    assert code == plain.code, rest
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
