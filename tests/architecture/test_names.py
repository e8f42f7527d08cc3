"""Files are short and called after what they hold; what is exempted from a rule says why."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES_MAX = 300
BYTES_MAX = 600_000
NAMES_THAT_SAY_NOTHING = {
    "utils",
    "util",
    "helpers",
    "helper",
    "base",
    "common",
    "manager",
    "managers",
    "misc",
}

EXEMPTION = re.compile(r"#\s*(?:ruff:\s*)?(?:noqa\b|type:\s*ignore\b|mypy:\s)(.*)")
WITH_A_REASON = re.compile(r"(?::\s*[A-Z]+[0-9]+(?:,\s*[A-Z]+[0-9]+)*\s*|\[[a-z, -]+\]\s*)(?:-|—|#)\s*\S.*")
# In brackets where the plain words would find this very line.
OF_ONE_MACHINE = re.compile(
    r"(?<![\w.~-])/(?:wor[k]|roo[t]|hom[e]|User[s])/\w"
    r"|index[-]url|PIP[_]INDEX|GOPROX[Y]=|pypi[.]org/simple|files[.]pythonhosted|proxy[.]golang"
)
MAY_NAME_THE_INDEX = {
    "tests/architecture/test_setup.py"
}  # sets pip's own variable to an address that is closed


def tracked() -> list[Path]:
    """Every file that is, or is about to be, part of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


# CI always has a checkout; who unpacked an archive of the source has no list of what belongs to it.
if not (ROOT / ".git").exists():
    pytest.skip("not a checkout: there is no list of tracked files", allow_module_level=True)

FILES = tracked()
SOURCES = [path for path in FILES if path.suffix == ".py"]


def shown(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def test_no_module_has_a_name_that_says_nothing() -> None:
    parts = {part for path in SOURCES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert not parts & NAMES_THAT_SAY_NOTHING


def test_no_source_file_is_longer_than_a_reader_can_hold() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > LINES_MAX} == {}


def test_nothing_heavy_is_kept() -> None:
    assert shown([path for path in FILES if path.stat().st_size > BYTES_MAX]) == []


def test_no_file_names_a_place_of_one_machine_or_an_address_of_a_package_index() -> None:
    found = []
    for path in FILES:
        text = path.read_bytes().decode(errors="replace")
        name = str(path.relative_to(ROOT))
        if name not in MAY_NAME_THE_INDEX:
            found += [f"{name}: {match.group()}" for match in OF_ONE_MACHINE.finditer(text)]
    assert found == []


@pytest.mark.parametrize("text", ["cd /ho~me/me/lastseat", "--index~-url https://x", " /wo~rk/main"])
def test_a_place_of_one_machine_would_be_found(text: str) -> None:
    assert OF_ONE_MACHINE.search(text.replace("~", ""))


def exemptions() -> list[tuple[str, str]]:
    return [
        (f"{path.relative_to(ROOT)}:{number}", found.group(1))
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (found := EXEMPTION.search(line)) and path != Path(__file__)
    ]


def test_every_exemption_from_a_rule_says_which_and_why() -> None:
    assert [place for place, rest in exemptions() if not WITH_A_REASON.match(rest)] == []


@pytest.mark.parametrize(
    ("rest", "accepted"),
    [
        (": S311 - not a secret", True),
        (": N801, N802 — reads as a clause", True),
        ("[arg-type]  # each was read as its field's type", True),
        (": S311", False),
        ("", False),
        ("[arg-type]", False),
    ],
)
def test_an_exemption_without_a_reason_would_be_found(rest: str, accepted: bool) -> None:
    assert bool(WITH_A_REASON.match(rest)) is accepted
