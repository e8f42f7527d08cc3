"""A season: turns that are played one after another in one lab, and what was judged of them, whatever came after it."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg
from redis.exceptions import RedisError

from chaos.fault import Unwell
from chaos.nemesis import Contradiction, Unavailable
from chaos.network import NetworkError
from checker.seal import seal
from checker.trail import DecodeError, SpoolError, TrailError
from checker.verdict import Judgement, outrank
from lastseat import elsewhere
from lastseat import folder as folders
from lastseat.briefing import brief
from lastseat.drawing import Drawing
from lastseat.errors import ExitCode, LabError, UsageError
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.rejudging import EXIT_CODES, judged, write_verdict
from lastseat.run import Course, play
from lastseat.server_logs import parts_kept
from reports.terminal import Outcome
from scenarios import history
from scenarios.load import LoadError
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from checker.verdict import Verdict
    from lastseat.live import Progress
    from lastseat.request import Servers
    from scenarios.scenario import Scenario

TEMPLATE = "lastseat_template"

BREAKS = (
    LoadError,
    TargetError,
    TrailError,
    SpoolError,
    DecodeError,
    NetworkError,
    Unavailable,
    Unwell,
    history.JournalUnreadable,
    TimeoutError,
    ConnectionError,
    RedisError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
"""What a run can meet when a part of its lab goes away under it: no mistake of the bench, and told in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run of a season: what is played, with which seed and planted bug, and the command that plays it again.

    Its folder is `runs`/`filed`/<timestamp>.
    """

    scenario: Scenario
    seed: int
    mutant: str | None
    command: str
    runs: Path
    filed: str
    judges_thresholds: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A turn that was played to its end, where its evidence lies and how it was judged."""

    turn: Turn
    folder: Path
    outcome: Outcome

    @property
    def verdict(self) -> Verdict:
        """Its verdict."""
        return self.outcome.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What all turns of a season share: the servers, invariants of a user's own, and whether reports are drawn.

    `summary` puts a judged turn in a line, told as soon as its verdict is there. A turn is left out that what is
    judged so far makes `needless`.
    """

    servers: Servers
    summary: Callable[[Judged], str]
    invariant_folders: tuple[Path, ...] = ()
    drawn: bool = True
    needless: Callable[[Season, Turn], bool] = lambda _season, _turn: False


@dataclass(slots=True)
class Season:
    """What became of the turns so far: those that were judged, and those that could not be played to their end."""

    judged: list[Judged] = field(default_factory=list)
    failed: list[LabError] = field(default_factory=list)
    unplayed: list[Turn] = field(default_factory=list)

    @property
    def code(self) -> ExitCode:
        """The exit code: a violation outranks a failure, a failure any other verdict."""
        worst = outrank(each.verdict.judgement for each in self.judged)
        if self.failed and worst is not Judgement.INVALID:
            return ExitCode.LAB_FAILED
        return EXIT_CODES[worst]


async def play_season(turns: Sequence[Turn], setting: Setting, season: Season, telling: Progress) -> None:
    """Play the turns; what became of each is kept in `season`, also when a later one ends the whole by an error."""
    servers = setting.servers
    await elsewhere.refuse(servers.database_url, servers.redis_url, servers.toxiproxy_url)
    folder = folders.create(turns[0].runs, turns[0].filed)
    async with Drawing.open(folder / "logs" / "drawing.log", wanted=setting.drawn) as drawing:
        async with _lab(setting.servers, turns, folder, telling) as lab:
            template = await _template(lab)
            for place, turn in enumerate(turns):
                if setting.needless(season, turn):
                    continue
                began = time.monotonic()
                if place > 0:
                    lab.folder = folders.create(turn.runs, turn.filed)
                course = _course(turn, lab, place)
                try:
                    with parts_kept(folder, course.folder), _ports_given_back(lab):
                        verdict = await _one(turn, setting, course, template, telling)
                except LabError as broken:
                    season.failed.append(broken)
                    season.unplayed.append(turn)
                else:
                    drawing.draw(course.folder, turn.runs)
                    outcome = Outcome(verdict=verdict, seconds=time.monotonic() - began)
                    season.judged.append(Judged(turn=turn, folder=course.folder, outcome=outcome))
                    if len(turns) > 1:
                        telling.result(f"{place + 1} of {len(turns)}  {setting.summary(season.judged[-1])}")
        if setting.drawn:
            telling.phase("the report" if len(turns) == 1 else "the reports")
        for problem in await drawing.finish():
            telling.notice(problem)


@asynccontextmanager
async def _lab(
    servers: Servers, turns: Sequence[Turn], folder: Path, telling: Progress
) -> AsyncIterator[Lab]:
    """Start the one lab of the season, with a proxy where any turn breaks a link."""
    proxied = any(turn.scenario.faults for turn in turns)
    telling.phase("the lab: PostgreSQL, Valkey" + (", Toxiproxy" if proxied else ""))
    async with Lab.start(
        folder=folder,
        database_url=servers.database_url,
        redis_url=servers.redis_url,
        toxiproxy_url=servers.toxiproxy_url,
        with_toxiproxy=proxied,
        say=telling.notice,
    ) as lab:
        if lab.proxy is not None and lab.proxy.notice:
            telling.notice(lab.proxy.notice)
        yield lab


@contextmanager
def _ports_given_back(lab: Lab) -> Iterator[None]:
    """Let the ports that a turn took be had again after it: a season may be thousands of turns."""
    kept = set(lab.ports)
    try:
        yield
    finally:
        lab.ports.intersection_update(kept)


def _course(turn: Turn, lab: Lab, place: int) -> Course:
    return Course(
        name=f"{turn.scenario.name}-{lab.environment_marker[:8]}" + (f"-{place + 1}" if place else ""),
        scenario=turn.scenario,
        seed=turn.seed,
        target=Builtin(),
        lab=lab,
        folder=lab.folder,
        mutant=turn.mutant,
    )


async def _template(lab: Lab) -> str:
    """Make the database that every run's is a copy of."""
    dsn = await lab.create_database(TEMPLATE)
    await Deployer(lab=lab, environment={}).migrate(dsn)
    return TEMPLATE


async def _one(turn: Turn, setting: Setting, course: Course, template: str, telling: Progress) -> Verdict:
    """Play and judge one turn; raises LabError, naming the folder, when it cannot be played to its end."""
    folder = course.folder
    try:
        played = await play(course, template, telling)
        telling.phase("the verdict")
        history.write_history(folder)
        await brief(course, played, command=turn.command, judges_thresholds=turn.judges_thresholds)
        seal(folder)
    except Contradiction as senseless:
        raise UsageError(
            f"These faults cannot be played together: {senseless}.", remedy="Part their times."
        ) from senseless
    except BREAKS as broken:
        raise LabError(
            f"{course.scenario.name} could not be played to its end: {str(broken) or type(broken).__name__}",
            where=str(folder),
            remedy="its logs/ tell what each process said",
        ) from broken
    verdict = await asyncio.to_thread(judged, folder, setting.invariant_folders)
    write_verdict(folder, verdict)
    folders.point_latest(turn.runs, folder)
    return verdict
