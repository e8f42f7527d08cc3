"""What is printed cannot command, mislead or give away."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reports.printable import REDACTED, clean, one_line, shorten


@pytest.mark.parametrize(
    ("secret", "left"),
    [
        ("postgres://app:pw@db/x", f"postgres://{REDACTED}@db/x"),
        ("redis://:pw@db:6379", f"redis://{REDACTED}@db:6379"),
        ("PGPASSWORD=pw psql", f"PGPASSWORD={REDACTED} psql"),
        ("owner_secret: abc", f"owner_secret: {REDACTED}"),
        ("token=abcdefghij", f"token={REDACTED}"),
        ("Authorization: Bearer ab.c-d", f"Authorization: Bearer {REDACTED}"),
    ],
)
def test_credentials_are_redacted(secret: str, left: str) -> None:
    assert clean(secret) == left


@pytest.mark.parametrize(
    "harmless", ["fencing token=7", "https://example.org/a@b", "a@b", "no secret here", "ключ ✓"]
)
def test_what_only_looks_like_a_credential_is_left_alone(harmless: str) -> None:
    assert clean(harmless) == harmless


def test_control_and_direction_characters_are_replaced() -> None:
    assert clean("a\x1b[31m\x00\u202eb\ud800\n\tc") == "a�[31m��b�\n\tc"
    assert one_line(" a\n b\r\n") == "a b"


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    assert [shorten("abcdef", length) for length in (6, 5)] == ["abcdef", "abcd…"]


def test_naming_this_room_loads_nothing_heavy() -> None:
    program = (
        "import sys, reports, reports.terminal, reports.github;"
        "print([name for name in ('pandas', 'matplotlib', 'numpy', 'jinja2', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
