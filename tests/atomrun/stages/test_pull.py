"""Pulling an image: only where it is wanted, and equal everywhere afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.atomrun.runs import Fleet, LiveHost, container_plan, healthy_host, host_script, with_ranks

from atomrun.context import Options
from atomrun.host import Completed
from atomrun.results import StageStatus
from atomrun.stages.preflight import preflight
from atomrun.stages.pull import pull

FleetOf = Callable[..., Fleet]
ABSENT = Completed(0, b"runtime\tdocker\nimage\tabsent\ndisk_kb\t99999999\n")
INSPECT = ("docker", "image", "inspect")


def fleet_with(fleet_of: FleetOf, mode: str, *hosts: LiveHost) -> Fleet:
    fleet = fleet_of(with_ranks(container_plan(), len(hosts)), *hosts, options=Options(pull=mode))
    preflight(fleet.run)
    return fleet


def test_never_is_the_default(fleet_of: FleetOf) -> None:
    assert pull(fleet_of(container_plan(), healthy_host()).run).status is StageStatus.SKIPPED


@pytest.mark.parametrize(("mode", "pulled"), [("missing", [False, True]), ("always", [True, True])])
def test_it_is_pulled_where_it_is_wanted(fleet_of: FleetOf, mode: str, pulled: list[bool]) -> None:
    hosts = healthy_host(0), healthy_host(1)
    hosts[1].on(*host_script("preflight"), then=ABSENT)
    for host in hosts:
        host.on_start("pull")
        host.on(*INSPECT, then=Completed(0, b"sha256:aaaa\n"))
    result = pull(fleet_with(fleet_of, mode, *hosts).run)
    assert result.status is StageStatus.OK
    assert ["pull" in host.jobs for host in hosts] == pulled
    assert hosts[1].jobs["pull"].spec.argv == ("docker", "pull", "rocm/atom:1")


def test_digests_must_be_equal_afterwards(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    for host, digest in zip(hosts, (b"sha256:aaaa", b"sha256:bbbb"), strict=True):
        host.on_start("pull")
        host.on(*INSPECT, then=Completed(0, digest))
    result = pull(fleet_with(fleet_of, "always", *hosts).run)
    assert result.reason == "the image differs between nodes: 10.0.0.1 has sha256:aaaa, 10.0.0.2 has sha256:bbbb"


@pytest.mark.parametrize(
    ("ending", "inspected", "reason"),
    [
        ({"code": 1, "err": b"Error: denied\n"}, b"", "cannot be pulled (status 1): Error: denied"),
        ({"state": "deadline"}, b"", "cannot be pulled (ran into its deadline of 14400 s)"),
        ({"state": "lost"}, b"", "cannot be pulled (its supervisor lost)"),
    ],
)
def test_a_pull_that_fails_says_why(
    fleet_of: FleetOf, ending: dict[str, object], inspected: bytes, reason: str
) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=ABSENT)
    host.on_start("pull", **ending)
    result = pull(fleet_with(fleet_of, "missing", host).run)
    assert result.status is StageStatus.FAILED
    assert reason in result.reason


def test_an_image_that_is_not_there_after_the_pull(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("pull")
    host.on(*INSPECT, then=Completed(1, b"", b"No such image\n"))
    assert pull(fleet_with(fleet_of, "always", host).run).reason == "after the pull: No such image"
