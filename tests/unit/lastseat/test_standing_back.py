"""A clerk stands back behind other sessions too, although the kernel takes such a wish only now and then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GROUP = Path("/proc/self/autogroup")
# Where sessions are no groups, niceness counts between all processes by itself and there is nothing to ask for.
pytestmark = pytest.mark.skipif(not GROUP.exists(), reason="this system does not group by session")

TWICE = f"""
from lastseat.clerk import _stand_back
_stand_back(5)
_stand_back(19)
print(open("{GROUP}").read())
"""


def test_a_wish_is_repeated_until_it_is_taken_and_starves_nobody() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWICE],
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert done.stdout.split()[-2:] == ["nice", "5"]
