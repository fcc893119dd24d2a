"""What several nodes need to find each other: RDMA devices and socket interface of each host, and the way between
them on the master port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from atomcfg.plan import Fabric
from atomcfg.tokens import Hole, fill
from atomrun.asking import look_around
from atomrun.context import NodeRun, RunContext
from atomrun.findings import Finding, verdict_of
from atomrun.outcomes import skipped, tell
from atomrun.results import StageResult, StageStatus
from atomrun.scripts import pairs, run_on_host

__all__ = ["fabric"]

_SCRIPT_S = 60.0
_REACH_S = 10.0


@frozen
class _Seen:
    """What one host has. Interface names start with a letter, so "" is none."""

    hca: tuple[str, ...]
    netdev: str


def fabric(run: RunContext) -> StageResult:
    """Facts are taken on the host OS. The lists of devices must be equal, or hold what the plan names; each node
    has its own interface. Both directions of the master port are tried where the programs run."""
    wanted = run.plan.fabric
    if wanted is None:
        return skipped("fabric", "one node")
    seen = run.ask(lambda node: _look(run, node, wanted)).all()
    findings = [*_devices(run, wanted, seen), *_interfaces(run, wanted, seen)]
    if all(item.status is not StageStatus.FAILED for item in findings):
        for node in run.nodes:
            facts = seen[node.rank]
            node.fabric = {
                Hole.FABRIC_HCA.value: ",".join(wanted.hca or facts.hca),
                Hole.FABRIC_NETDEV.value: wanted.netdev or facts.netdev,
            }
        findings += _ways(run, wanted)
    tell(run, findings)
    return verdict_of("fabric", findings)


def _address(run: RunContext, node: NodeRun) -> str:
    """The address by which the other nodes know this one."""
    return run.bound(node).get(f"{Hole.ADDRESS.value}.{node.rank}", node.node.cluster_address)


def _look(run: RunContext, node: NodeRun, wanted: Fabric) -> _Seen:
    master = fill(wanted.master_addr, run.bound(node))
    told = pairs(run_on_host(node, "fabric", [_address(run, node), master], _SCRIPT_S).out)
    netdev = next((value for key, value in told if key == "netdev"), "")
    return _Seen(tuple(value for key, value in told if key == "hca"), netdev)


def _devices(run: RunContext, wanted: Fabric, seen: Mapping[int, _Seen]) -> Iterator[Finding]:
    lists = {node.name: seen[node.rank].hca for node in run.nodes}
    if wanted.hca:
        for name, found in lists.items():
            absent = sorted(set(wanted.hca) - set(found))
            if absent:
                text = f"the host has no {', '.join(absent)}; it has {', '.join(found) or 'no RDMA device'}"
                yield Finding(name, "hca", StageStatus.FAILED, text, "correct roles.server.ib_hca_devices")
            else:
                yield Finding(name, "hca", StageStatus.OK, ",".join(wanted.hca))
        return
    if len({frozenset(found) for found in lists.values()}) > 1:
        text = "RDMA devices differ: " + "; ".join(
            f"{name} has {', '.join(f) or 'none'}" for name, f in lists.items()
        )
        yield Finding("all", "hca", StageStatus.FAILED, text, "name the common ones in roles.server.ib_hca_devices")
        return
    for name, found in lists.items():
        status = StageStatus.OK if found else StageStatus.WARNING
        yield Finding(name, "hca", status, ", ".join(found) or "no RDMA device: the nodes talk over TCP")


def _interfaces(run: RunContext, wanted: Fabric, seen: Mapping[int, _Seen]) -> Iterator[Finding]:
    for node in run.nodes:
        name = wanted.netdev or seen[node.rank].netdev
        if name:
            yield Finding(node.name, "netdev", StageStatus.OK, name)
        else:
            text = f"no interface has {_address(run, node)}, and none leads to the master"
            yield Finding(
                node.name, "netdev", StageStatus.FAILED, text, "correct vpc_ip, or set roles.server.ib_netdev"
            )


def _ways(run: RunContext, wanted: Fabric) -> Iterator[Finding]:
    """Workers to the head, then the head to the workers, each on the master port."""
    port = int(fill(wanted.master_port, run.bound(run.head)))
    workers = run.nodes[1:]
    yield from _way(run, port, [run.head], workers)
    yield from _way(run, port, workers, [run.head])


def _way(run: RunContext, port: int, to: Sequence[NodeRun], from_: Sequence[NodeRun]) -> Iterator[Finding]:
    listeners = {node.rank for node in to}

    def play(node: NodeRun) -> dict[str, str]:
        if node.rank in listeners:
            order = {"address": _address(run, node), "port": port, "count": len(from_), "seconds": _REACH_S + 2}
            fault = str(look_around(node, "accept", order)["fault"])
            return {"": fault} if fault else {}
        faults = {}
        for target in to:
            order = {"address": _address(run, target), "port": port, "seconds": _REACH_S}
            fault = str(look_around(node, "connect", order)["fault"])
            if fault:
                faults[target.name] = fault
        return faults

    for rank, faults in sorted(run.ask(play, [*to, *from_]).all().items()):
        node = run.nodes[rank]
        for target, fault in faults.items():
            text = f"cannot reach {target} on port {port}: {fault}" if target else fault
            yield Finding(node.name, "way", StageStatus.FAILED, text, "open the port between the nodes")
        if not faults and rank not in listeners:
            names = ", ".join(target.name for target in to)
            yield Finding(node.name, "way", StageStatus.OK, f"reaches {names} on port {port}")
