"""One run, as a story: lab up → load → faults → heal → settle → evidence → verdict → report."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.nemesis import Nemesis
from checker import state
from checker.trail import Trail
from lastseat.conditions import Share, Sold
from lastseat.errors import LabError
from lastseat.nodes import Deployer, Deployment, end_nodes, ended
from lastseat.observing import counting_permits, look_at_redis
from lastseat.own_database import database
from lastseat.reach import reach_of
from lastseat.records import write_effects, write_faults
from lastseat.settling import owed, settle
from lastseat.tolls import tolls
from lastseat.waiting import both, call_off
from lastseat.watch import watching
from lastseat.workers import dismiss, staffed
from reports.wording import counted
from scenarios.load import LoadError
from scenarios.page import showing
from scenarios.plan import lay_plan, load_seconds, people

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from chaos.nemesis import FaultRecord
    from lastseat.ahead import Ahead
    from lastseat.course import Course
    from lastseat.live import Progress
    from lastseat.tolls import Toll
    from scenarios.control import Tally
    from scenarios.load import Load, LoadSummary
    from scenarios.page import Page
    from scenarios.plan import LoadPlan
    from scenarios.targets.target import Target

SETTLE_SECONDS = 15.0
DRAIN_SECONDS = 60.0
STATE_SECONDS = 60.0
HEAL_SECONDS = 60.0
"""How long faults that are broken off may take to be healed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a run left besides the evidence in its folder."""

    load: LoadSummary
    faults: tuple[FaultRecord, ...]
    links: Mapping[str, Toll]


async def play(course: Course, template: str, ahead: Ahead, progress: Progress) -> Played:
    """Play one scenario and leave its evidence in the folder; the lab stays up."""
    scenario, target, folder = course.scenario, course.target, course.folder
    async with AsyncExitStack() as leaving:
        progress.phase("fresh database, trail, nodes and load processes")
        dsn = await leaving.enter_async_context(
            database(course.lab, ahead, course.name, template, course.mutant)
        )
        await course.lab.flush_redis()
        page = await leaving.enter_async_context(paged(course, progress))
        load = await leaving.enter_async_context(ahead.load(folder, page.spawn if page else None))
        watch = await leaving.enter_async_context(watching(dsn, folder))
        trail, service = await leaving.enter_async_context(opened(course, dsn))
        goes = "goes" if scenario.sale.resources == 1 else "go"
        progress.phase(f"{counted(scenario.sale.resources, 'resource')} {goes} on sale")
        stage = await target.prepare(
            service.nodes, scenario.sale, run=course.name, actors=people(scenario, course.seed)
        )
        plan = lay_plan(
            scenario,
            run=course.name,
            seed=course.seed,
            nodes=tuple(service.nodes),
            target=target,
            stage=stage,
            folder=folder,
        )
        await leaving.enter_async_context(
            counting_permits(course.lab.redis_url, watch.samples, course.permits_max)
        )
        watch.samples.follow(lambda: {role: child.pid for role, child in service.children.items()})
        links = await tolls(service.links)
        summary, faults = await storm(course, load, plan, service, progress, page=page)
        if page:
            await page.end()
        watch.note_load(summary, folder)
        progress.phase("settling, then the state at rest and the trail to its end")
        settled = settle(
            dsn,
            owed(target.unsettled, staff=tuple(scenario.workers)),
            within_seconds=SETTLE_SECONDS,
            samples=watch.samples,
            say=progress.detail,
        )
        await both(settled, ahead.call(course.next_name, template))
        await look_at_redis(course.lab.redis_url, watch.samples)
        await dismiss(service)
        # A node at rest has nothing left to write, and one that is not has had its time: it ends while the state is read.
        await both(_read(course, dsn, trail), end_nodes(service))
    write_faults(folder, faults)
    write_effects(folder, [desk.ledger for desk in service.providers.values()])
    return Played(load=summary, faults=faults, links=links)


async def storm(
    course: Course,
    load: Load,
    plan: LoadPlan,
    service: Deployment,
    progress: Progress,
    *,
    page: Page | None = None,
) -> tuple[LoadSummary, tuple[FaultRecord, ...]]:
    """Let the crowd and the nemesis loose together, from one zero of time; everything is healed at the end."""
    progress.phase(
        f"the crowd comes, and {counted(len(course.faults), 'fault')}" if course.faults else "the crowd comes"
    )
    if page:
        await _shown(page, progress)
    playing: list[asyncio.Task[None]] = []
    share = Share(arrivals=plan.arrivals)
    async with AsyncExitStack() as leaving:
        sold = leaving.enter_context(closing(Sold(service.dsn)))
        reach = reach_of(course.lab, service, {"progress": share.ask, "sold": sold.ask})
        nemesis = await leaving.enter_async_context(Nemesis(course.faults, reach))
        progress.faults(in_force(nemesis.records))
        try:
            summary = await load.play(
                plan,
                within_seconds=load_seconds(plan.arrivals, plan.seconds),
                on_zero=lambda t0_ns: playing.append(asyncio.create_task(nemesis.play(t0_ns))),
                on_progress=_telling(progress, share, nemesis),
            )
            nemesis.load_ended()
            await asyncio.gather(*playing)
        finally:  # a load that failed must leave no fault that is still to come: it would land after the healing
            await call_off(playing, within_seconds=HEAL_SECONDS)
    progress.faults(())
    return summary, tuple(nemesis.records)


@asynccontextmanager
async def paged(course: Course, progress: Progress) -> AsyncIterator[Page | None]:
    """Have Locust's page come up, where it was asked for; without it the load is the same."""
    async with AsyncExitStack() as leaving:
        page = None
        if course.page_port is not None:
            asked = showing(
                course.lab.spawn,
                title=course.scenario.name,
                port=course.page_port,
                within=course.lab.supervision.folder,
            )
            try:
                page = await leaving.enter_async_context(asked)
            except LabError as away:
                progress.notice(f"Locust's page cannot be shown: {away}")
        yield page


async def _shown(page: Page, progress: Progress) -> None:
    """Say where the page is; without it the load is the same, and goes on."""
    try:
        await page.up()
    except LoadError as away:
        progress.notice(str(away))
    else:
        progress.detail(f"Locust's page, as long as the load lasts: {page.url}")


@asynccontextmanager
async def opened(course: Course, dsn: str) -> AsyncIterator[tuple[Trail, Deployment]]:
    """Open the trail and run the service while the block runs; what writes ends before the trail does, and that before the database.

    All are brought up beside each other, but for the workers: one writes as soon as it runs, and all that it writes
    belongs into the trail.
    """
    deployer = Deployer(
        lab=course.lab,
        environment=course.environment,
        mutant=course.mutant,
        proxied=course.proxied,
        faults=course.faults,
    )
    service = deployer.planned(dsn)
    async with AsyncExitStack() as below, AsyncExitStack() as above, AsyncExitStack() as beside:

        async def observed() -> Trail:
            trail = await below.enter_async_context(
                Trail.open(dsn, keys(course.target), course.folder, required=False)
            )
            course.lab.drop_left()  # not before: a slot is made only once every transaction that runs has ended
            await beside.enter_async_context(
                staffed(deployer, service, course.scenario.workers, course.folder)
            )
            return trail

        await above.enter_async_context(ended(service))
        trail, _ = await both(observed(), deployer.bring_up(service, course.scenario.nodes))
        yield trail, service


async def _read(course: Course, dsn: str, trail: Trail) -> None:
    """Read the state at rest, and the trail to its end."""
    await state.read(dsn, keys(course.target), course.folder, deadline_seconds=STATE_SECONDS)
    await trail.drain(deadline_seconds=DRAIN_SECONDS)


def keys(target: Target) -> dict[str, tuple[str, ...]]:
    """Return the target's own tables with their keys, as trail and state read them."""
    return {table.table: table.key for table in target.tables.values()}


def in_force(records: Sequence[FaultRecord]) -> tuple[str, ...]:
    """Name the faults that something is broken by right now."""
    return tuple(each.fault for each in records if each.injected_ns is not None and each.healed_ns is None)


def _telling(progress: Progress, share: Share, nemesis: Nemesis) -> Callable[[Tally], None]:
    def tell(tally: Tally) -> None:
        share.through = tally.through
        progress.load(tally, arrivals=share.arrivals)
        progress.faults(in_force(nemesis.records))

    return tell
