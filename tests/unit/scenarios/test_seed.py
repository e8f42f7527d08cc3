"""A seed decides arrivals and choices, whatever process they are laid out in, and another decides otherwise.

What is made of them is seen in runs: tests/integration/test_season.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scenarios import registry

LAID_OUT = Path(__file__).with_name("laid_out.py")
ROOT = Path(__file__).parents[3]
Decided = dict[str, dict[str, str]]


def decided(seed: int, hash_seed: int) -> Decided:
    """What a process of its own, with hashes of its own, makes of a seed."""
    done = subprocess.run(
        [sys.executable, str(LAID_OUT), str(seed)],
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: Decided = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def seeds() -> tuple[Decided, Decided, Decided]:
    """One seed twice, and another."""
    with ThreadPoolExecutor() as together:
        once, again, other = together.map(decided, (7, 7, 8), (1, 4_242, 1))
    return once, again, other


@pytest.mark.parametrize("name", registry.names())
def test_a_seed_decides_the_same_every_time(name: str, seeds: tuple[Decided, ...]) -> None:
    once, again, _ = seeds
    assert once[name] == again[name]


@pytest.mark.parametrize("name", registry.names())
def test_another_seed_decides_otherwise(name: str, seeds: tuple[Decided, ...]) -> None:
    once, _, other = seeds
    assert once[name]["choices"] != other[name]["choices"]
