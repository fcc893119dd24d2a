"""Cells become sessions and commands: the only place where a driver is picked."""

from __future__ import annotations

from atomcfg.containers import container_name, inside, outside, run_argv
from atomcfg.diagnostics import Checked
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.drivers.environment import HF_TOKEN, master_addr, master_port
from atomcfg.lowering.provenance import provenance_of
from atomcfg.lowering.running import run_of
from atomcfg.model import Settings
from atomcfg.plan import (
    PLAN_VERSION,
    Container,
    Estimate,
    Fabric,
    Model,
    Paths,
    Plan,
    SecretRef,
    Topology,
)

from .states import Bound

__all__ = ["lower"]


def lower(bound: Bound) -> Checked[Plan]:
    """The plan, without digest and seal."""
    settings = bound.expanded.built.settings
    driver = DRIVERS[settings.params.driver]
    running = run_of(bound)
    sessions, cells, checks = running.sessions, running.cells, running.checks
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
        provenance=provenance_of(bound, running.trace.entries()),
    )
    return Checked.of(plan, running.found)


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
