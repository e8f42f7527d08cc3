"""A run folder's seal: a digest of every file that the verdict is computed from, so that damage is not taken for evidence."""

from __future__ import annotations

from hashlib import file_digest
from typing import TYPE_CHECKING, Final

import msgspec

from checker.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME: Final = "seal.json"
SEALED: Final = (
    "*.parquet",
    "base/*.parquet",
    "changes/*.parquet",
    "state/*.parquet",
    "scenario.json",
    "trail.json",
)
NAMED_MAX: Final = 5


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """The SHA-256 of each file, by its path in the folder."""

    files: dict[str, str]


def seal(folder: Path) -> None:
    """Write seal.json, once everything that is judged stands in the folder."""
    written = Seal(files=dict(_digests(folder)))
    (folder / NAME).write_bytes(msgspec.json.format(msgspec.json.encode(written), indent=2))


def refuse_damage(folder: Path) -> None:
    """Raise EvidenceError naming what has changed since the folder was sealed; one without a seal is taken as it is."""
    try:
        sealed = msgspec.json.decode((folder / NAME).read_bytes(), type=Seal).files
    except FileNotFoundError:
        return
    except (OSError, msgspec.MsgspecError) as odd:
        raise EvidenceError(f"{NAME} cannot be read: {odd}") from odd
    there = dict(_digests(folder))
    wrong = [f"{name} is gone" for name in sealed if name not in there]
    wrong += [f"{name} is damaged" for name, digest in there.items() if sealed.get(name, digest) != digest]
    wrong += [f"{name} was added" for name in there if name not in sealed]
    if wrong:
        more = f", and {len(wrong) - NAMED_MAX} more" if len(wrong) > NAMED_MAX else ""
        raise EvidenceError(f"it is not as the run left it: {', '.join(wrong[:NAMED_MAX])}{more}")


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in SEALED:
        for path in sorted(folder.glob(pattern)):
            if path.is_file():
                with path.open("rb") as opened:
                    yield path.relative_to(folder).as_posix(), file_digest(opened, "sha256").hexdigest()
