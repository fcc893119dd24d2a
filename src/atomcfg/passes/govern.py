"""Settings must fit together: topology, fabric, environment, paths, the driver's own rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from atomcfg.containers import inside
from atomcfg.diagnostics import Checked, Diagnostics
from atomcfg.documents import Document, JsonPath, dotted
from atomcfg.drivers import DRIVERS
from atomcfg.drivers.base import Driver
from atomcfg.drivers.environment import TRITON
from atomcfg.model import Settings
from atomcfg.serving import FABRIC_VARIABLES
from atomcfg.suggest import counted
from atomcfg.values import env_text

from .states import Built

__all__ = ["govern"]

_HCA = r"(mlx5_|rdma|bnxt_re|ionic_|rocep|ibp)\w*\d\w*"
_NOT_FABRIC = r"lo|docker\d+|cni\d*|podman\d+|virbr\d+"
_CONTROL = re.compile("[\x00-\x1f\x7f`]")
_ENVIRONMENTS: tuple[JsonPath, ...] = (("roles", "server", "env"), ("container", "runtime", "args", "env"))
_CLUSTER_ENVIRONMENTS: tuple[JsonPath, ...] = (("env_vars",), ("container", "runtime", "args", "env"))
_HANDED_ON = ("env", "extra_args", "metadata", "gen_kwargs")
# vLLM reads these with int(), ATOM compares them with "1".
_EXACTLY_ONE = re.compile(r"(ATOM_USE_|VLLM_ROCM_USE_|VLLM_USE_)\w+")


def govern(built: Built) -> Checked[Built]:
    """All rules that need more than one value. Every broken rule is reported."""
    found = Diagnostics()
    settings = built.settings
    driver = DRIVERS[settings.params.driver]
    for rule in _RULES:
        rule(settings, driver, found)
    for base in _ENVIRONMENTS:
        _environment(settings, settings.document, base, found)
    cluster = built.enlisted.flat.parsed.cluster
    if cluster is not None:
        _node_count(settings, found)
        for base in _CLUSTER_ENVIRONMENTS:
            _environment(settings, cluster, base, found)
    driver.check(settings, found)
    return Checked.of(built, found)


def _node_count(settings: Settings, found: Diagnostics) -> None:
    nodes, wanted = len(settings.cluster.nodes), settings.params.nnodes
    if nodes != wanted:
        span = settings.document.span(("params", "nnodes"))
        listed = counted(settings.cluster.nodes, "node")
        hint = f"list {wanted} in node_dict, or write {settings.document.called('params', 'nnodes')} {nodes}"
        found.error("A606", f"nnodes is {wanted}, the cluster file lists {listed}", span, hint)
        return
    addresses = {address for node in settings.cluster.nodes for address in (node.address, node.cluster_address)}
    master = settings.params.master_addr
    if wanted > 1 and master and "<" not in master and "{" not in master and master not in addresses:
        span = settings.document.span(("params", "master_addr"))
        hint = f"the head is {settings.cluster.nodes[0].cluster_address}"
        found.warning("A607", f"master_addr {master} is none of the cluster's addresses", span, hint)


def _arguments_present(settings: Settings, driver: Driver, found: Diagnostics) -> None:
    given = settings.server.arguments
    if driver.arguments_required and driver.arguments not in given:
        span = settings.document.span(("roles", "server"), key=True)
        needed = settings.document.called("roles", "server", driver.arguments)
        found.error("A411", f"driver {driver.name} needs {needed}", span, "write it; an empty list will do")
    for name in given:
        if name != driver.arguments:
            path = ("roles", "server", name)
            hint = f"driver {driver.name} reads {settings.document.called('roles', 'server', driver.arguments)}"
            summary = f"{settings.document.called(*path)} reaches nothing"
            found.warning("A412", summary, settings.document.span(path, key=True), hint)


def _budgets(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    """A deadline of no time would end every server or client as it starts."""
    params = settings.params
    for what, seconds, name in (
        ("server", params.server_deadline_s, "server_poll_count"),
        ("client", params.client_deadline_s, "client_poll_count"),
    ):
        if seconds == 0:
            span = settings.document.span(("params", name))
            hint = f"the waits of the {what} are a budget, not sleeps: give them the seconds that it may take"
            found.error("A414", f"the {what} is given 0 seconds", span, hint)


def _parallelism(settings: Settings, driver: Driver, found: Diagnostics) -> None:
    params = settings.params
    pipeline, nodes = params.pipeline_parallel_size, params.nnodes
    span = settings.document.span(("params", "pipeline_parallel_size"))
    if not driver.multinode_is_pipeline:
        if pipeline > 1:
            hint = "on several nodes it runs data parallel; remove the value"
            found.error("A608", f"driver {driver.name} has no pipeline parallelism", span, hint)
        return
    if pipeline > 1 and nodes == 1:
        called = settings.document.called("params", "pipeline_parallel_size")
        hint = f"write nnodes {pipeline} and list as many hosts, or write 1"
        found.error("A609", f"{called} {pipeline} needs more than one node", span, hint)
    if nodes > 1 and pipeline == 1 and not driver.own_multinode(settings):
        span = settings.document.span(("params", "nnodes"))
        called = settings.document.called("params", "pipeline_parallel_size")
        hint = f"write {called} {nodes}, or distributed-executor-backend ray in the server's arguments"
        found.error("A610", f"{nodes} nodes need {called} > 1", span, hint)


def _fabric(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    netdev = settings.server.ib_netdev
    if netdev is not None:
        span = settings.document.span(("roles", "server", "ib_netdev"))
        if re.fullmatch(_HCA, netdev):
            hint = "ib_netdev is a network interface (ens1, bond0); the RDMA device belongs in ib_hca_devices"
            found.error("A550", f"{netdev} is an RDMA device, not a network interface", span, hint)
        elif re.fullmatch(_NOT_FABRIC, netdev):
            hint = 'name the interface that reaches the other nodes, or "auto"'
            found.error("A550", f"{netdev} does not reach other nodes", span, hint)


def _environment(settings: Settings, document: Document, base: JsonPath, found: Diagnostics) -> None:
    """One object of variables, wherever it stands: each reaches the engines."""
    stated = document.get(*base)
    for name, raw in stated.items() if isinstance(stated, dict) else ():
        value, path = env_text(raw), (*base, name)
        if name in FABRIC_VARIABLES:
            span = document.span(path, key=True)
            hint = f"write {settings.document.called('roles', 'server', FABRIC_VARIABLES[name])} instead"
            found.error("A552", f"{name} is set by fabric discovery", span, hint)
        elif _EXACTLY_ONE.fullmatch(name) and name not in TRITON and value.lower() in ("true", "yes", "on"):
            hint = 'write "1"'
            found.warning("A554", f'{name} is "{value}", but engines test for 1', document.span(path), hint)
        elif name == "NCCL_IB_GID_INDEX" and settings.params.nnodes > 1:
            span = document.span(path)
            hint = "GID tables differ between hosts; leave it out unless the nodes are known to agree"
            found.warning("A555", f"{name} is one constant for {settings.params.nnodes} nodes", span, hint)


def _log_dir(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    """An artifact that the client writes outside every mount would die with the container."""
    container, log_dir = settings.container, settings.paths.log_dir
    span = settings.document.span(("paths", "log_dir"))
    if not log_dir.startswith("/") and "<" not in log_dir:
        found.error("A317", f'log_dir "{log_dir}" is not absolute', span, "write {shared_fs}/LOGS or a path from /")
    elif container is not None and not any("<" in mount.source for mount in container.mounts):
        if inside(container.mounts, log_dir) is None:
            hint = "add a volume that holds it, for example " + f'"{log_dir}:{log_dir}"'
            found.error("A611", f"no volume shows log_dir {log_dir} in the container", span, hint)
    elif container is not None and inside(container.mounts, log_dir) is None:
        hint = "right if a volume that a lab must still supply holds it"
        found.warning("A611", f"no volume is known to show log_dir {log_dir} in the container", span, hint)


def _plain_text(settings: Settings, _driver: Driver, found: Diagnostics) -> None:
    """Ids, names and paths go into file names, labels and tables: no control characters or backticks there."""
    for top in ("paths", "model", "container", "accuracy"):
        for path, text in _texts(settings.document.get(top), (top,)):
            if _CONTROL.search(text):
                summary = f"{dotted(path)} holds a backtick or a control character"
                found.error("A428", summary, settings.document.span(path), "write it without")


def _texts(value: object, path: JsonPath) -> Iterator[tuple[JsonPath, str]]:
    """The names and paths of a block; what is handed to a program as it stands may hold anything."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if not key.startswith("_") and key not in _HANDED_ON:
                yield from _texts(item, (*path, key))


_RULES: tuple[Callable[[Settings, Driver, Diagnostics], None], ...] = (
    _arguments_present,
    _budgets,
    _parallelism,
    _fabric,
    _log_dir,
    _plain_text,
)
