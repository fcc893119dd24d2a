"""Fabric discovery: devices, interfaces, and the way between the nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import (
    NAME,
    Fleet,
    LiveHost,
    answer,
    container_plan,
    healthy_host,
    host_script,
    probe,
    with_ranks,
)

from atomcfg.plan import Plan
from atomrun.host import Completed
from atomrun.results import StageResult, StageStatus
from atomrun.stages.fabric import fabric
from atomrun.stages.launch import launch
from atomrun.stages.preflight import preflight

FleetOf = Callable[..., Fleet]


def plan_with(**wanted: object) -> Plan:
    plan = with_ranks(container_plan(), 2)
    assert plan.fabric is not None
    return evolve(plan, fabric=evolve(plan.fabric, **wanted))


def found(fleet: Fleet) -> StageResult:
    preflight(fleet.run)
    launch(fleet.run)
    return fabric(fleet.run)


def says(host: LiveHost, text: str) -> LiveHost:
    host.on(*host_script("fabric"), then=Completed(0, text.encode()))
    return host


def test_one_node_has_no_fabric(fleet_of: FleetOf) -> None:
    assert fabric(fleet_of(container_plan(), healthy_host()).run).status is StageStatus.SKIPPED


def test_every_rank_gets_its_own_values(fleet_of: FleetOf) -> None:
    hosts = (
        says(healthy_host(0), "hca mlx5_0\nhca mlx5_10\nnetdev ens1\n"),
        says(healthy_host(1), "hca mlx5_10\nhca mlx5_0\nnetdev ens2\n"),
    )
    fleet = fleet_of(plan_with(), *hosts)
    assert found(fleet).status is StageStatus.OK
    assert [fleet.run.bound(node)["fabric_netdev"] for node in fleet.run.nodes] == ["ens1", "ens2"]
    assert fleet.run.bound(fleet.run.head)["fabric_hca"] == "mlx5_0,mlx5_10", "in the kernel's order"
    asked = [next(argv[4:] for argv in host.argvs if argv[3:4] == ("fabric",)) for host in hosts]
    assert asked == [("10.1.0.1", "10.1.0.1"), ("10.1.0.2", "10.1.0.1")], "own cluster address, then the master's"


@pytest.mark.parametrize(
    ("wanted", "second", "reason"),
    [
        ({}, "hca mlx5_0\nnetdev ens1\n", "RDMA devices differ: 10.0.0.1 has mlx5_0, mlx5_1; 10.0.0.2 has mlx5_0"),
        ({}, "netdev ens1\n", "RDMA devices differ: 10.0.0.1 has mlx5_0, mlx5_1; 10.0.0.2 has none"),
        ({"hca": ("mlx5_0", "mlx5_1")}, "hca mlx5_0\nnetdev e\n", "the host has no mlx5_1; it has mlx5_0"),
        ({}, "hca mlx5_0\nhca mlx5_1\n", "no interface has 10.1.0.2, and none leads to the master"),
    ],
)
def test_nodes_that_do_not_fit_together(
    fleet_of: FleetOf, wanted: dict[str, object], second: str, reason: str
) -> None:
    fleet = fleet_of(plan_with(**wanted), healthy_host(0), says(healthy_host(1), second))
    result = found(fleet)
    assert result.status is StageStatus.FAILED
    assert result.reason == reason
    assert not [argv for argv in fleet.head.argvs if "accept" in argv], "nothing is tried when facts are missing"


def test_what_the_plan_names_is_taken(fleet_of: FleetOf) -> None:
    fleet = fleet_of(
        plan_with(hca=("mlx5_1",), netdev="bond0"), healthy_host(0), says(healthy_host(1), "hca mlx5_1\n")
    )
    assert found(fleet).status is StageStatus.OK
    assert {node.fabric["fabric_hca"] for node in fleet.run.nodes} == {"mlx5_1"}
    assert {node.fabric["fabric_netdev"] for node in fleet.run.nodes} == {"bond0"}


def test_without_any_device_it_is_tcp_and_said(fleet_of: FleetOf) -> None:
    fleet = fleet_of(plan_with(), *(says(healthy_host(rank), "netdev ens1\n") for rank in (0, 1)))
    assert found(fleet).reason == "no RDMA device: the nodes talk over TCP"
    assert fleet.run.bound(fleet.run.head)["fabric_hca"] == ""


def test_both_directions_are_tried(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    assert found(fleet_of(plan_with(), *hosts)).status is StageStatus.OK
    modes = [[argv[6] for argv in host.argvs if argv[6:7] in (("accept",), ("connect",))] for host in hosts]
    assert modes == [["accept", "connect"], ["connect", "accept"]]


@pytest.mark.parametrize(
    ("rank", "mode", "reason"),
    [
        (1, "connect", "cannot reach 10.0.0.1 on port 29501: no route to host"),
        (0, "connect", "cannot reach 10.0.0.2 on port 29501: no route to host"),
        (0, "accept", "no route to host"),
    ],
)
def test_a_way_that_is_closed_names_both_ends(fleet_of: FleetOf, rank: int, mode: str, reason: str) -> None:
    hosts = healthy_host(0), healthy_host(1)
    closed = Completed(0, answer({"fault": "no route to host", "peers": []}))
    hosts[rank].on(*probe(mode, f"{NAME}{rank}"), then=closed)
    result = found(fleet_of(plan_with(), *hosts))
    assert (result.status, result.reason, result.node) == (StageStatus.FAILED, reason, f"10.0.0.{rank + 1}")
