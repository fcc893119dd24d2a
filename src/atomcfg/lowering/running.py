"""What runs: sessions, cells and checks with their commands, and the trace of what was used to write them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from attrs import frozen

from atomcfg.diagnostics import Diagnostics
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.drivers.environment import http_port
from atomcfg.model import Settings
from atomcfg.passes.states import Bound
from atomcfg.plan import Cell, Checks, Probe, RankLaunch, Session

from .checks import lower_checks
from .clients import Clients
from .commands import flatten, merged_env
from .trace import Trace

__all__ = ["Running", "run_of"]

_PERCENTILE = re.compile(r"p(\d+)_\w+_ms")


@frozen(eq=False, repr=False)
class Running:
    """What runs, the uses that were traced while it was written, and what was found."""

    sessions: tuple[Session, ...]
    cells: tuple[Cell, ...]
    checks: Checks
    trace: Trace
    found: Diagnostics


def run_of(bound: Bound) -> Running:
    """Every command of a run, and what of the configuration none of them uses."""
    found = Diagnostics()
    settings = bound.expanded.built.settings
    driver = DRIVERS[settings.params.driver]
    trace = Trace(settings)
    sessions = _sessions(bound, settings, driver, _ranks(settings, driver, trace))
    cells = _cells(bound, settings, driver, sessions, trace)
    checks = lower_checks(bound, settings, driver, sessions[-1].index, trace)
    trace.report_unused(driver.unused(settings), found)
    return Running(sessions, cells, checks, trace, found)


def _ranks(settings: Settings, driver: Driver, trace: Trace) -> tuple[RankLaunch, ...]:
    launches = []
    for node in settings.cluster.nodes:
        argv = driver.server(settings, node.rank)
        env = merged_env(settings, driver.server_env(settings, node.rank))
        trace.argv("server argv", argv)
        trace.env("server env", env)
        role = "head" if node.rank == 0 else "worker"
        launches.append(RankLaunch(node.rank, role, flatten(argv), tuple(entry.var for entry in env)))
    return tuple(launches)


def _sessions(
    bound: Bound, settings: Settings, driver: Driver, ranks: tuple[RankLaunch, ...]
) -> tuple[Session, ...]:
    """One session for all cells when the server is reused, else one a cell."""
    ids = [cell.id for cell in bound.expanded.cells]
    groups = [ids] if settings.params.reuse_server_across_sweep else [[cell_id] for cell_id in ids]
    key = _session_key(ranks)
    probe = Probe(http_port(settings), driver.health_path, settings.model_id)
    return tuple(
        Session(index, key, ranks, probe, settings.params.server_deadline_s, tuple(group))
        for index, group in enumerate(groups)
    )


def _session_key(ranks: tuple[RankLaunch, ...]) -> str:
    shown = [[repr(rank.argv), repr(rank.env)] for rank in ranks]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


def _cells(
    bound: Bound, settings: Settings, driver: Driver, sessions: tuple[Session, ...], trace: Trace
) -> tuple[Cell, ...]:
    percentiles = driver.percentiles(settings, _asked(bound))
    clients = Clients(settings, driver, percentiles, trace)
    session_of = {cell_id: session.index for session in sessions for cell_id in session.cells}
    offsets = _seed_offsets(bound, settings)
    params = settings.params
    cells = []
    for cell in bound.expanded.cells:
        combo, table = cell.run.combo, bound.cells.get(cell.id)
        specs = table.specs if table else ()
        trace.gates(cell.id, len(specs))
        seed = params.seed + offsets.get(cell.id, 0)
        client = clients.of(cell, seed)
        made = Cell(
            id=cell.id,
            key=str(cell.key),
            session=session_of[cell.id],
            isl=combo.isl,
            osl=combo.osl,
            concurrency=cell.run.concurrency,
            num_prompts=params.num_prompts,
            input_range=cell.input_range,
            output_range=cell.output_range,
            seed=seed,
            allowed_failures=params.bench_max_failed_requests,
            argv=client.argv,
            env=clients.env,
            artifact=client.artifact,
            deadline_s=params.client_deadline_s,
            specs=specs,
        )
        cells.append(made)
    return tuple(cells)


def _asked(bound: Bound) -> frozenset[str]:
    """The percentiles that specs of cells name."""
    layouts = {table.written: table for table in bound.cells.values()}  # the same keys are the same metrics
    metrics = {spec.metric for table in layouts.values() for spec in table.specs}
    return frozenset(match.group(1) for name in metrics if (match := _PERCENTILE.fullmatch(name)))


def _seed_offsets(bound: Bound, settings: Settings) -> Mapping[str, int]:
    """In a reused session each cell has its own seed: a prefix cache must not serve one with another's prompts.

    The offset is the cell's index; where the cells came from object keys, whose order means nothing, their
    index in sorted order.
    """
    if not settings.params.reuse_server_across_sweep:
        return {}
    cells = list(bound.expanded.cells)
    if bound.expanded.built.enlisted.flat.unordered_cells:
        cells.sort(key=lambda cell: cell.key)
    return {cell.id: index for index, cell in enumerate(cells)}
