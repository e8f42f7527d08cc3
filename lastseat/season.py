"""A season: turns that are played one after another in one lab, and what was judged of them, whatever came after it."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import asyncpg
from redis.exceptions import RedisError

from chaos.fault import Unwell
from chaos.nemesis import Contradiction, Unavailable
from chaos.network import NetworkError
from checker.trail import SpoolError, TrailError
from lastseat import elsewhere
from lastseat import folder as folders
from lastseat.ahead import Ahead
from lastseat.bounding import Hung, Phases, turn_seconds, within
from lastseat.briefing import brief
from lastseat.course import Course
from lastseat.court import Court
from lastseat.drawing import Drawing
from lastseat.errors import LabError
from lastseat.judging import Judging
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.run import play
from lastseat.server_logs import parts_kept
from scenarios.load import LoadError
from scenarios.targets.builtin import Builtin
from scenarios.targets.target import TargetError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from lastseat.court import Tell
    from lastseat.docket import Judged, Season, Setting, Turn
    from lastseat.live import Progress
    from lastseat.request import Servers

TEMPLATE = "lastseat_template"

BREAKS = (
    LoadError,
    TargetError,
    TrailError,
    SpoolError,
    NetworkError,
    Contradiction,
    Unavailable,
    Unwell,
    TimeoutError,
    ConnectionError,
    RedisError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
"""What a run can meet when a part of its lab goes away under it: no mistake of the bench, and told in a sentence."""


async def play_season(turns: Sequence[Turn], setting: Setting, season: Season, telling: Progress) -> None:
    """Play the turns; what became of each is kept in `season`, also when a later one ends the whole by an error.

    Each is judged beside the next one's start, and its report is drawn beside whatever comes then.
    """
    servers = setting.servers
    await elsewhere.refuse(servers.database_url, servers.redis_url, servers.toxiproxy_url)
    name = uuid4().hex
    folder = _folder(turns[0], name)
    async with (
        Drawing.open(folder / "logs" / "drawing.log", wanted=setting.drawn) as drawing,
        Judging.open(folder / "logs" / "judging.log") as judging,
    ):
        court = Court(setting, season, (judging, drawing), _teller(len(turns), setting, telling))
        async with court, _lab(setting.servers, turns, folder, telling) as lab, Ahead(lab) as ahead:
            template = await _template(lab)
            page_port = lab.free_port() if setting.web else None  # one for all: a browser stays where it is
            next_is_certain = setting.needless is None and not setting.web
            for place, turn in enumerate(turns):
                if setting.needless is not None:
                    await court.adjourn()
                    if setting.needless(season, turn):
                        continue
                began = time.monotonic()
                if place > 0:
                    lab.folder = _folder(turn, name)
                next_name = _next_name(turns, lab, place) if next_is_certain else None
                course = replace(_course(turn, lab, place, page_port), next_name=next_name)
                try:
                    with parts_kept(folder, course.folder), _ports_given_back(lab):
                        await _recorded(turn, course, template, ahead, telling)
                except Hung as broken:
                    season.fail(turn, broken)
                    season.unplayed.extend(turns[place + 1 :])
                    break
                except LabError as broken:
                    season.fail(turn, broken)
                else:
                    court.hear(turn, course.folder, began)
            telling.phase("the verdict")
        if setting.drawn:
            telling.phase("the report" if len(turns) == 1 else "the reports")
        for problem in await drawing.finish():
            telling.notice(problem)


def _folder(turn: Turn, season: str) -> Path:
    """Make the folder of a turn, which tells from the beginning what it is for."""
    folder = folders.create(turn.runs, turn.filed)
    folders.write_mark(folder, folders.Mark(season=season, profile=turn.scenario.profile, mutant=turn.mutant))
    return folder


def _teller(many: int, setting: Setting, telling: Progress) -> Tell:
    """Return what tells a verdict as it falls, where there are several."""

    def tell(place: int, judged: Judged) -> None:
        if many > 1:
            telling.result(f"{place} of {many}  {setting.summary(judged)}")

    return tell


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
        if lab.postgres.no_trail:
            telling.notice(lab.postgres.no_trail)
        yield lab


@contextmanager
def _ports_given_back(lab: Lab) -> Iterator[None]:
    """Let the ports that a turn took be had again after it: a season may be thousands of turns."""
    kept = set(lab.ports)
    try:
        yield
    finally:
        lab.ports.intersection_update(kept)


def _name(turn: Turn, lab: Lab, place: int) -> str:
    return f"{turn.scenario.name}-{lab.environment_marker[:8]}" + (f"-{place + 1}" if place else "")


def _next_name(turns: Sequence[Turn], lab: Lab, place: int) -> str | None:
    return _name(turns[place + 1], lab, place + 1) if place + 1 < len(turns) else None


def _course(turn: Turn, lab: Lab, place: int, page_port: int | None) -> Course:
    return Course(
        name=_name(turn, lab, place),
        scenario=turn.scenario,
        seed=turn.seed,
        target=Builtin(),
        lab=lab,
        folder=lab.folder,
        mutant=turn.mutant,
        page_port=page_port,
    )


async def _template(lab: Lab) -> str:
    """Make the database that every run's is a copy of."""
    dsn = await lab.create_database(TEMPLATE)
    await Deployer(lab=lab, environment={}).migrate(dsn)
    return TEMPLATE


async def _recorded(turn: Turn, course: Course, template: str, ahead: Ahead, telling: Progress) -> None:
    """Play one turn and record all that it is judged by; raises LabError, naming the folder, where that cannot be done."""

    async def recorded() -> None:
        played = await play(course, template, ahead, phases)
        await brief(course, played, command=turn.command, judges_thresholds=turn.judges_thresholds)

    phases = Phases(telling)
    try:
        await within(
            recorded(),
            seconds=turn_seconds(course.scenario, course.seed),
            phases=phases,
            name=course.scenario.name,
            where=str(course.folder),
        )
    except BREAKS as broken:
        raise LabError(
            f"{course.scenario.name} could not be played to its end: {str(broken) or type(broken).__name__}",
            where=str(course.folder),
            remedy="its logs/ tell what each process said",
        ) from broken
