"""Cells become sessions and commands: the only place where a driver is picked."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from attrs import frozen

from atomcfg.containers import container_name, inside, outside, run_argv
from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.drivers.environment import HF_TOKEN, http_port, master_addr, master_port
from atomcfg.lowering.checks import lower_checks
from atomcfg.lowering.clients import Clients
from atomcfg.lowering.commands import flatten, merged_env
from atomcfg.lowering.provenance import provenance_of
from atomcfg.lowering.trace import Trace
from atomcfg.model import Settings
from atomcfg.plan import (
    PLAN_VERSION,
    Cell,
    Checks,
    Container,
    Estimate,
    Fabric,
    Model,
    Paths,
    Plan,
    Probe,
    RankLaunch,
    SecretRef,
    Session,
    Topology,
)

from .states import Bound

__all__ = ["lower", "unused"]

_PERCENTILE = re.compile(r"p(\d+)_\w+_ms")


@frozen(eq=False, repr=False)
class _Lowered:
    """What runs, the uses that were traced while it was written, and what was found."""

    sessions: tuple[Session, ...]
    cells: tuple[Cell, ...]
    checks: Checks
    trace: Trace
    found: Diagnostics


def lower(bound: Bound) -> Checked[Plan]:
    """The plan, without digest and seal."""
    settings = bound.expanded.built.settings
    driver = DRIVERS[settings.params.driver]
    lowered = _lowered(bound)
    sessions, cells, checks = lowered.sessions, lowered.cells, lowered.checks
    topology = _topology(settings, driver)
    seconds = sum(session.ready_deadline_s for session in sessions)
    seconds += sum(cell.deadline_s for cell in cells) + sum(task.deadline_s for task in checks.accuracy)
    plan = Plan(
        plan_version=PLAN_VERSION,
        stem=settings.stem,
        profile=settings.profile,
        driver=driver.name,
        gpu_arch=settings.gpu_arch,
        enforce_thresholds=settings.enforce_thresholds,
        orchestrator=settings.cluster.orchestrator,
        model=Model(settings.model_id, settings.model_remote, settings.precision),
        topology=topology,
        paths=_paths(settings),
        nodes=settings.cluster.nodes,
        container=_container(settings),
        secrets=(SecretRef(HF_TOKEN, settings.paths.hf_token_file, required=settings.model_remote),),
        fabric=_fabric(settings),
        scaling_baseline=settings.params.scaling_baseline_output_throughput,
        sessions=sessions,
        cells=cells,
        checks=checks,
        unresolved=bound.expanded.built.enlisted.unresolved,
        estimate=Estimate(len(sessions), seconds, round(seconds / 3600 * topology.gpus, 1)),
        provenance=provenance_of(bound, lowered.trace.entries()),
    )
    return Checked.of(plan, lowered.found)


def unused(bound: Bound) -> Checked[Bound]:
    """What `lower` would find, for those who want no plan."""
    return Checked.of(bound, _lowered(bound).found)


def _lowered(bound: Bound) -> _Lowered:
    found = Diagnostics()
    settings = bound.expanded.built.settings
    driver = DRIVERS[settings.params.driver]
    trace = Trace(settings)
    sessions = _sessions(bound, settings, driver, _ranks(settings, driver, trace))
    cells = _cells(bound, settings, driver, sessions, trace)
    checks = lower_checks(bound, settings, driver, sessions[-1].index, trace)
    trace.report_unused(driver.unused(settings), found)
    return _Lowered(sessions, cells, checks, trace, found)


def _topology(settings: Settings, driver: Driver) -> Topology:
    params = settings.params
    data_parallel = driver.data_parallel(settings)
    gpus = params.tensor_parallelism * params.pipeline_parallel_size * data_parallel
    return Topology(
        nnodes=params.nnodes,
        tensor_parallelism=params.tensor_parallelism,
        pipeline_parallel_size=params.pipeline_parallel_size,
        data_parallel=data_parallel,
        gpus=gpus,
        gpus_per_node=-(-gpus // params.nnodes),
    )


def _paths(settings: Settings) -> Paths:
    root = f"{settings.paths.log_dir.rstrip('/')}/atomrun"
    models = settings.paths.models_dir
    if settings.container is None:
        return Paths(root, root, models, models)
    mounts = settings.container.mounts
    return Paths(root, inside(mounts, root) or root, models, outside(mounts, models))


def _container(settings: Settings) -> Container | None:
    container = settings.container
    if container is None:
        return None
    devices = container.args.get("devices")
    return Container(
        runtime=container.runtime,
        image=container.image,
        name=container_name(container),
        lifetime=container.lifetime,
        run_argv=run_argv(container),
        mounts=container.mounts,
        devices=tuple(str(device) for device in devices) if isinstance(devices, list) else (),
    )


def _fabric(settings: Settings) -> Fabric | None:
    if settings.params.nnodes == 1:
        return None
    server = settings.server
    return Fabric(server.ib_hca_devices, server.ib_netdev, master_addr(settings), master_port(settings))


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
