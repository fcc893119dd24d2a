"""What preflight finds, and how it says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import Fleet, container_plan, healthy_host, host_script, with_ranks

from atomrun.context import Options
from atomrun.findings import Finding
from atomrun.host import Busy, Completed, HostError
from atomrun.results import StageStatus
from atomrun.stages.preflight import preflight

FleetOf = Callable[..., Fleet]

GOOD = "runtime\tdocker\nimage\tsha256:aaaa\ndisk_kb\t99999999\n"


def told(fleet: Fleet) -> list[tuple[str, str]]:
    return [(name, status) for name, status, _ in fleet.told("finding")]


def test_all_is_well(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert preflight(fleet.run).status is StageStatus.OK
    assert told(fleet) == [
        ("reachable", "ok"), ("clock", "ok"), ("lock", "ok"), ("runtime", "ok"), ("image", "ok"), ("disk", "ok"),
    ]  # fmt: skip
    assert fleet.run.record.facts["image 10.0.0.1"] == "sha256:aaaa"
    assert fleet.run.head.runtime == ("docker",)


def test_what_the_gpus_and_their_driver_are_is_kept(fleet_of: FleetOf) -> None:
    host = healthy_host()
    lines = "gpu_arch\tgfx942\ngpu_driver\t6.14.5\nrocm\t7.0.2-56\n"
    host.on(*host_script("preflight"), then=Completed(0, f"{GOOD}{lines}".encode()))
    fleet = fleet_of(container_plan(), host)
    assert preflight(fleet.run).status is StageStatus.OK
    facts = fleet.run.record.facts
    assert [facts[f"{name} 10.0.0.1"] for name in ("gpu_arch", "gpu_driver", "rocm")] == [
        "gfx942",
        "6.14.5",
        "7.0.2-56",
    ]


@pytest.mark.parametrize(
    ("lines", "reason", "hint"),
    [
        ("runtime_error\tpermission denied", "the container runtime cannot be used: permission denied", "sudo -n"),
        ("image\tabsent", "the image rocm/atom:1 is absent", "docker pull rocm/atom:1 on 10.0.0.1, or give --pull"),
        ("image_error\tno daemon", "images cannot be listed: no daemon", "check the container runtime"),
        ("run_dir_error\tRead-only file system", "the run's directory cannot be made: Read-only", "paths.log_dir"),
        ("missing\t/srv/models", "/srv/models does not exist", "or make /srv/models"),
        (
            "port\t8000 is in use by pid 7: python x",
            "port 8000 is in use by pid 7: python x",
            "choose another port",
        ),
        ("disk_kb\t1024", "only 0.0 GiB free", "free some space"),
    ],
)
def test_what_is_wrong_is_said_with_the_next_thing_to_try(
    fleet_of: FleetOf, lines: str, reason: str, hint: str
) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, f"{GOOD}{lines}\n".encode()))
    result = preflight(fleet_of(container_plan(), host).run)
    assert result.status is StageStatus.FAILED
    assert result.node == "10.0.0.1"
    assert reason in result.reason
    assert hint in result.hint


def test_every_finding_of_every_node_is_in_one_table(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1), healthy_host(2)
    hosts[0].on(*host_script("preflight"), then=Completed(0, f"{GOOD}missing\t/a\nmissing\t/b\n".encode()))
    hosts[1].fail("acquire", Busy("10.0.0.2", {"run": "r0", "who": "bob@x", "since": "noon"}))

    def connect(rank: int) -> object:
        if rank == 2:
            raise HostError("10.0.0.3", "unreachable", "connection timed out", "is it switched on?")
        return hosts[rank]

    fleet = fleet_of(with_ranks(container_plan(), 3), *hosts, connect=connect)
    result = preflight(fleet.run)
    failed = [(name, text) for name, status, text in fleet.told("finding") if status == "failed"]
    assert failed == [
        ("missing", "/a does not exist"),
        ("missing", "/b does not exist"),
        ("busy", "in use by run r0 of bob@x since noon"),
        ("unreachable", "connection timed out"),
    ]
    assert result.reason == "/a does not exist (and 3 more)"


def test_clocks_that_differ_and_little_space_are_warnings(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.known_facts["clock_offset_ms"] = "119999.9"
    host.on(*host_script("preflight"), then=Completed(0, GOOD.replace("99999999", "500000").encode()))
    result = preflight(fleet_of(container_plan(), host).run)
    assert result.status is StageStatus.WARNING
    assert "119999.9 ms from the launcher's" in result.reason
    assert "0.5 GiB free" in result.reason


def test_a_clock_that_cannot_be_read_is_no_finding(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.known_facts["clock_offset_ms"] = ""
    fleet = fleet_of(container_plan(), host)
    preflight(fleet.run)
    assert "clock" not in dict(told(fleet))


def test_images_that_differ_are_refused(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    hosts[1].on(*host_script("preflight"), then=Completed(0, GOOD.replace("aaaa", "bbbb").encode()))
    result = preflight(fleet_of(with_ranks(container_plan(), 2), *hosts).run)
    assert result.reason == "the image differs between nodes: 10.0.0.1 has sha256:aaaa, 10.0.0.2 has sha256:bbbb"


def test_an_absent_image_is_fine_when_it_will_be_pulled(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, GOOD.replace("sha256:aaaa", "absent").encode()))
    assert preflight(fleet_of(container_plan(), host, options=Options(pull="missing")).run).status is StageStatus.OK


def test_the_launchers_own_findings_come_first(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    fleet.run.record.findings.append(
        Finding("launcher", "secret", StageStatus.FAILED, "hf_token: empty", "fill it")
    )
    assert preflight(fleet.run).hint == "fill it"
    assert told(fleet)[0] == ("secret", "failed")


def test_what_is_looked_at_follows_from_the_plan(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    preflight(fleet_of(with_ranks(container_plan(), 2), *hosts).run)
    asked = [next(argv[4:] for argv in host.argvs if argv[3:4] == ("preflight",)) for host in hosts]
    run_dir = "/logs/atomrun/run-1"
    assert asked[0] == ("docker", "rocm/atom:1", run_dir, "29501 8000", "/srv/models", "/dev/kfd")
    assert asked[1] == ("docker", "rocm/atom:1", run_dir, "", "/srv/models", "/dev/kfd")


def test_ports_of_a_container_with_its_own_network_are_not_the_hosts(fleet_of: FleetOf) -> None:
    plan = container_plan()
    assert plan.container is not None
    bridged = evolve(plan.container, run_argv=("run", "-d", "--network=bridge", "rocm/atom:1"))
    host = healthy_host()
    preflight(fleet_of(evolve(plan, container=bridged), host).run)
    assert next(argv for argv in host.argvs if argv[3:4] == ("preflight",))[7] == ""


def test_baremetal_needs_neither_runtime_nor_image(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, b"disk_kb\t99999999\nvram\t283000000\n"))
    fleet = fleet_of(evolve(container_plan(), container=None), host)
    assert preflight(fleet.run).status is StageStatus.OK
    assert fleet.run.head.vram_used == 283000000


@pytest.mark.parametrize(("used", "status"), [(297_000_000, "ok"), (43_000_000_000, "warning")])
def test_a_neighbour_on_the_gpus_is_a_warning(fleet_of: FleetOf, used: int, status: str) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, f"{GOOD}vram\t{used}\nvram_fullest\t{used}\n".encode()))
    fleet = fleet_of(container_plan(), host)
    assert preflight(fleet.run).status.value == status
    assert ("gpus", status) in told(fleet)
