"""Settings must fit together: topology, fabric, environment, paths, the driver's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable

from atomcfg.containers import inside
from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.drivers.environment import TRITON
from atomcfg.model import Settings
from atomcfg.serving import FABRIC_VARIABLES
from atomcfg.suggest import did_you_mean

from .states import Built

__all__ = ["govern"]

_HCA = re.compile(r"(mlx5_|rdma|bnxt_re|ionic_|rocep|ibp)\w*\d\w*")
_NOT_FABRIC = re.compile(r"lo|docker\d+|cni\d*|podman\d+|virbr\d+")
_LITERAL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
# vLLM reads these with int(), ATOM compares them with "1".
_EXACTLY_ONE = re.compile(r"(ATOM_USE_|VLLM_ROCM_USE_|VLLM_USE_)\w+")


def govern(built: Built) -> Checked[Built]:
    """All rules that need more than one value. Every broken rule is reported."""
    found = Diagnostics()
    settings = built.settings
    driver = DRIVERS.get(settings.params.driver)
    if driver is None:
        span = settings.document.span(("params", "driver"))
        hint = did_you_mean(settings.params.driver, DRIVERS) or f"one of {', '.join(DRIVERS)}"
        found.error("A410", f'no driver "{settings.params.driver}"', span, hint)
        return Checked(None, found.items)
    for rule in _RULES:
        rule(settings, driver, found)
    if built.enlisted.flat.parsed.cluster is not None:
        _node_count(settings, found)
    driver.check(settings, found)
    return Checked.of(built, found)


def _node_count(settings: Settings, found: Diagnostics) -> None:
    nodes, wanted = len(settings.cluster.nodes), settings.params.nnodes
    if nodes != wanted:
        span = settings.document.span(("params", "nnodes"))
        summary = f"nnodes is {wanted}, the cluster file lists {nodes} node{'s' if nodes != 1 else ''}"
        found.error("A606", summary, span, "make node_dict and nnodes agree")
        return
    addresses = {address for node in settings.cluster.nodes for address in (node.address, node.cluster_address)}
    master = settings.params.master_addr
    if master and "<" not in master and "{" not in master and master not in addresses:
        span = settings.document.span(("params", "master_addr"))
        hint = f"the head is {settings.cluster.nodes[0].cluster_address}"
        found.warning("A607", f"master_addr {master} is none of the cluster's addresses", span, hint)


def _arguments_present(settings: Settings, driver: Driver, found: Diagnostics) -> None:
    given = settings.server.arguments
    if driver.arguments_required and driver.arguments not in given:
        span = settings.document.span(("roles", "server"), key=True)
        found.error(
            "A411", f"driver {driver.name} needs roles.server.{driver.arguments}", span, "an empty list will do"
        )
    for name in given:
        if name != driver.arguments:
            span = settings.document.span(("roles", "server", name), key=True)
            hint = f"driver {driver.name} reads {driver.arguments}"
            found.warning("A412", f"{name} reaches nothing", span, hint)


def _parallelism(settings: Settings, driver: Driver, found: Diagnostics) -> None:
    params = settings.params
    pipeline, nodes = params.pipeline_parallel_size, params.nnodes
    span = settings.document.span(("params", "pipeline_parallel_size"))
    if not driver.multinode_is_pipeline:
        if pipeline > 1:
            hint = "on several nodes it runs data parallel; write pipeline_parallel_size 1"
            found.error("A608", f"driver {driver.name} has no pipeline parallelism", span, hint)
        return
    if pipeline > 1 and nodes == 1:
        summary = f"pipeline_parallel_size {pipeline} needs more than one node"
        found.error("A609", summary, span, f"nnodes {pipeline} and as many hosts, or pipeline_parallel_size 1")
    if nodes > 1 and pipeline == 1 and not driver.own_multinode(settings):
        span = settings.document.span(("params", "nnodes"))
        hint = f"pipeline_parallel_size {nodes}, or distributed-executor-backend ray"
        found.error("A610", f"{nodes} nodes need pipeline_parallel_size > 1", span, hint)


def _fabric(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    server, document = settings.server, settings.document
    netdev = server.ib_netdev
    if netdev is not None:
        span = document.span(("roles", "server", "ib_netdev"))
        if _HCA.fullmatch(netdev):
            hint = "ib_netdev is a network interface (ens1, bond0); the RDMA device belongs in ib_hca_devices"
            found.error("A550", f"{netdev} is an RDMA device, not a network interface", span, hint)
        elif _NOT_FABRIC.fullmatch(netdev):
            hint = 'name the interface that reaches the other nodes, or "auto"'
            found.error("A550", f"{netdev} does not reach other nodes", span, hint)
        elif not _LITERAL.fullmatch(netdev) and "<" not in netdev:
            found.error("A550", f"{netdev!r} is no interface name", span, 'a name like ens1, or "auto"')
    for index, name in enumerate(server.ib_hca_devices):
        if not _LITERAL.fullmatch(name) and "<" not in name:
            span = document.span(("roles", "server", "ib_hca_devices", index))
            found.error("A551", f"{name!r} is no device name", span, 'literal names like mlx5_0, or "auto"')


def _environment(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    for name, value in settings.server.env.items():
        path = ("roles", "server", "env", name)
        if name in FABRIC_VARIABLES:
            span = settings.document.span(path, key=True)
            hint = f"write roles.server.{FABRIC_VARIABLES[name]} instead"
            found.error("A552", f"{name} is set by fabric discovery", span, hint)
        elif not _NAME.fullmatch(name):
            span = settings.document.span(path, key=True)
            found.error("A553", f"{name!r} is no environment name", span, "letters, digits and _ only")
        elif _EXACTLY_ONE.fullmatch(name) and name not in TRITON and value.lower() in ("true", "yes", "on"):
            span = settings.document.span(path)
            found.warning("A554", f'{name} is "{value}", but engines test for 1', span, 'write "1"')
        elif name == "NCCL_IB_GID_INDEX" and settings.params.nnodes > 1:
            span = settings.document.span(path)
            hint = "GID tables differ between hosts; leave it out unless the nodes are known to agree"
            found.warning("A555", f"{name} is one constant for {settings.params.nnodes} nodes", span, hint)


def _log_dir(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    """An artifact that the client writes outside every mount would die with the container."""
    container, log_dir = settings.container, settings.paths.log_dir
    span = settings.document.span(("paths", "log_dir"))
    if not log_dir.startswith("/") and "<" not in log_dir:
        found.error("A317", f"log_dir {log_dir!r} is not absolute", span, "write {shared_fs}/LOGS or a path from /")
    elif container is not None and not any("<" in mount.source for mount in container.mounts):
        if inside(container.mounts, log_dir) is None:
            hint = "add a volume that holds it, for example " + f'"{log_dir}:{log_dir}"'
            found.error("A611", f"no volume shows log_dir {log_dir} in the container", span, hint)
    elif container is not None and inside(container.mounts, log_dir) is None:
        found.warning("A611", f"no volume is known to show log_dir {log_dir} in the container", span)


def _plain_text(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    """Ids, names and paths go into file names, labels and tables: no control characters there."""
    document = settings.document
    for path in (
        ("model", "id"),
        *(("paths", name) for name in ("shared_fs", "models_dir", "log_dir", "hf_token_file")),
    ):
        value = document.get(*path)
        if isinstance(value, str) and (_CONTROL.search(value) or "`" in value):
            found.error("A428", f"{path[-1]} holds a control character or a backtick", document.span(path))


_RULES: tuple[Callable[[Settings, Driver, Diagnostics], None], ...] = (
    _arguments_present,
    _parallelism,
    _fabric,
    _environment,
    _log_dir,
    _plain_text,
)
