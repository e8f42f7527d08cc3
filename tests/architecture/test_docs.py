"""The documentation speaks of what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from chaos import mutants
from lastseat import reference
from lastseat.cli import app
from scenarios import registry

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
RECORDED = re.compile(r"^\| `([a-z0-9-]+)` \| (.+) \|$", re.MULTILINE)
OPTION = re.compile(r"--[a-z-]+")
IMAGES_BYTES_MAX = 1_000_000


def shown(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shell_lines(text: str) -> list[str]:
    """The commands in fenced shell blocks, with continued lines joined and comments cut."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    return [line.split("#")[0].strip() for line in joined.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_command_shown_exists_with_its_options(page: Path) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group: it has several
    for line in shell_lines(page.read_text()):
        if found := re.match(r"(?:\.venv/bin/)?lastseat (\w+)(.*)", line):
            name, rest = found.groups()
            assert name in commands, line
            known = {
                option
                for parameter in commands[name].params
                for option in parameter.opts + parameter.secondary_opts
            }
            assert set(OPTION.findall(rest)) <= known, line


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_make_target_shown_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = {line.split()[1] for line in shell_lines(page.read_text()) if line.startswith("make ")}
    assert called <= targets


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            links = [
                (page.parent / link).resolve() for link in LINK.findall(page.read_text()) if "://" not in link
            ]
            ahead += [link for link in links if link.suffix == ".md"]
    assert set(PAGES) - reached == set()


def test_the_readme_counts_the_stories_that_there_are() -> None:
    assert f"- **{len(registry.names())} stories**" in (ROOT / "README.md").read_text()


def test_the_pictures_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "docs/images").iterdir()) < IMAGES_BYTES_MAX


def test_the_glossary_is_in_order_and_names_each_word_once() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
    ordered = [word.replace("t₀", "t0") for word in words]
    assert ordered == sorted(set(ordered))


def test_the_generated_pages_are_what_the_code_says_today() -> None:
    folder = ROOT / reference.FOLDER
    there = {path.name: path.read_text() for path in folder.iterdir() if path.name not in reference.MEASURED}
    assert there == dict(reference.pages()), "run `make docs`"


def test_writing_them_again_removes_what_is_generated_no_more(tmp_path: Path) -> None:
    (tmp_path / "gone.md").touch()
    reference.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(reference.pages())


@pytest.mark.parametrize("page", ["README.md", "docs/reference/track-record.md"])
def test_a_track_record_names_planted_bugs_that_exist_and_who_catches_them(page: str) -> None:
    there = {name: mutant.caught_by for name, mutant in mutants.discover().items()}
    rows = RECORDED.findall((ROOT / page).read_text())
    assert rows
    for name, row in rows:
        # The cell of those that catch it is the last but the figures.
        cells = [cell for cell in row.split(" | ")[1:] if "`" in cell or cell.startswith("–")]
        named, _, _ = cells[0].partition("; besides ")
        found = tuple(re.findall(r"`(\w+)`", named))
        # A bug that got away in the measured run is told as such, and then not all of them found it.
        assert name in there
        assert set(found) <= set(there[name]) if "**" in row else found == there[name], name
