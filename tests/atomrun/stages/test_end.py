"""The end of a run: kernel log, teardown, report."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from tests.atomrun.runs import RUN_ID, Fleet, container_plan, healthy_host, host_script, inside_script, with_ranks

from atomcfg.plan import Plan
from atomrun.host import Completed, HostError
from atomrun.kernel import marker
from atomrun.results import StageResult, StageStatus
from atomrun.stages.dmesg import dmesg
from atomrun.stages.launch import launch
from atomrun.stages.preflight import preflight
from atomrun.stages.report import report
from atomrun.stages.start import start
from atomrun.stages.teardown import teardown

FleetOf = Callable[..., Fleet]
MARK = f"[  1.0] {marker(RUN_ID)}\n"


def launched(fleet: Fleet) -> Fleet:
    preflight(fleet.run)
    launch(fleet.run)
    return fleet


def scanning() -> Plan:
    plan = container_plan()
    return evolve(plan, checks=evolve(plan.checks, dmesg_scan=True))


# --- dmesg


@pytest.mark.parametrize(
    ("read", "status", "reason"),
    [
        (Completed(0, f"[ 0.5] amdgpu: GPU reset begin!\n{MARK}[ 2.0] eth0: up\n".encode()), "ok", ""),
        (
            Completed(0, f"{MARK}[ 2.0] amdgpu 0000:c5:00.0: amdgpu: GPU reset begin!\n".encode()),
            "failed",
            "gpu_reset x1",
        ),
        (Completed(0, f"{MARK}[ 2.0] amdgpu: Runlist is getting oversubscribed\n".encode()), "ok", ""),
        (Completed(0, b"[ 2.0] eth0: up\n"), "not_scanned", "our mark is not in the kernel log"),
        (Completed(1, b"", b"sudo: a password is required\n"), "not_scanned", "sudo: a password is required"),
        (HostError("10.0.0.1", "timeout", "no answer"), "not_scanned", "no answer"),
    ],
)
def test_the_kernel_log_since_launch(fleet_of: FleetOf, read: Any, status: str, reason: str) -> None:
    host = healthy_host()
    host.on(*host_script("kernel_log"), then=read)
    fleet = launched(fleet_of(scanning(), host))
    assert dmesg(fleet.run).status is StageStatus.OK
    (block,) = fleet.run.record.blocks
    assert (block.id, block.status) == ("10.0.0.1", status)
    assert reason in block.reason


def test_warnings_of_the_kernel_make_performance_suspect(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("kernel_log"), then=Completed(0, f"{MARK}[ 2.0] amdgpu: GPU is throttled\n".encode()))
    fleet = launched(fleet_of(scanning(), host))
    dmesg(fleet.run)
    assert fleet.run.record.warnings == ["kernel log of 10.0.0.1: gpu_throttled x1: performance is suspect"]


def test_no_kernel_log_of_a_rehearsal_or_when_not_asked(fleet_of: FleetOf) -> None:
    assert dmesg(fleet_of(container_plan(), healthy_host()).run).status is StageStatus.SKIPPED
    fleet = fleet_of(scanning(), healthy_host(), transport="rehearsal")
    dmesg(fleet.run)
    assert [block.status for block in fleet.run.record.blocks] == ["skipped"]


# --- teardown


def test_everything_is_given_back(fleet_of: FleetOf) -> None:
    fleet = launched(fleet_of(container_plan(), healthy_host()))
    start(fleet.opened())
    assert teardown(fleet.run).reason == "1 nodes clean"
    host = fleet.head
    assert (host.owner, host.secrets, host.closed) == (None, {}, True)
    assert all(job.ended for job in host.jobs.values())


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (Completed(0, f"abc|true|me@here|{RUN_ID}|x".encode()), f"the container box-{RUN_ID}-r0 is still there"),
        (Completed(3, b"", b"no daemon\n"), f"box-{RUN_ID}-r0 may still be there: no daemon"),
    ],
)
def test_a_container_that_stays_is_a_finding(fleet_of: FleetOf, state: Completed, reason: str) -> None:
    fleet = launched(fleet_of(container_plan(), healthy_host()))
    fleet.head.on(*host_script("container_state"), then=state)
    result = teardown(fleet.run)
    assert (result.status, result.reason) == (StageStatus.FAILED, reason)
    assert result.hint == f"docker rm -f box-{RUN_ID}-r0"


def test_a_foreign_container_of_that_name_is_none_of_ours(fleet_of: FleetOf) -> None:
    fleet = launched(fleet_of(container_plan(), healthy_host()))
    fleet.head.on(*host_script("container_state"), then=Completed(0, b"abc|true|bob@x|other|x"))
    assert teardown(fleet.run).status is StageStatus.OK


def test_processes_that_survive_are_a_finding(fleet_of: FleetOf) -> None:
    fleet = launched(fleet_of(container_plan(), healthy_host()))
    start(fleet.opened())
    fleet.head.jobs["server-0.1"].survivors = (41, 42)
    assert teardown(fleet.run).reason == "processes of server-0.1 survive: 41, 42"


def test_a_node_that_cannot_be_cleaned_is_left_to_its_lease(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    fleet = launched(fleet_of(with_ranks(container_plan(), 2), *hosts))
    hosts[1].fail("release", HostError("10.0.0.2", "unreachable", "connection lost"))
    result = teardown(fleet.run)
    assert result.reason == "cannot be cleaned: connection lost; its lease ends what runs there within 1800 s"
    assert (result.node, result.hint) == ("10.0.0.2", f"atomrun cleanup {RUN_ID}")
    assert hosts[0].owner is None


def test_a_persistent_container_keeps_nothing_of_ours(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("container_state"), then=Completed(0, b"abc|true|me@here|old|x"))
    host.on(*inside_script("install", "box"), then=Completed(0, b"python3\n"))
    fleet = launched(fleet_of(container_plan(lifetime="persistent"), host))
    assert teardown(fleet.run).status is StageStatus.OK
    assert inside_script("uninstall", "box") in [argv[:7] for argv in host.argvs]
    host.on(*inside_script("uninstall", "box"), then=HostError("10.0.0.1", "timeout", "no answer"))
    again = fleet_of(container_plan(lifetime="persistent"), host)
    launched(again)
    assert teardown(again.run).status is StageStatus.OK
    assert ("note", "", "our files stay in the container on 10.0.0.1: no answer") in again.told("note")


def test_nothing_held_is_nothing_to_do(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert teardown(fleet.run).reason == "0 nodes clean"
    assert fleet.head.calls == []


# --- report


def test_everything_of_the_plan_is_accounted_for(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(cells=2), healthy_host())
    fleet.run.record.stages.append(StageResult("launch", StageStatus.FAILED, "no such image", node="10.0.0.1"))
    fleet.run.folder.keep_log("server-0.1.rank-0.err.log", b"fine\nRuntimeError: no GPU\n")
    assert report(fleet.run).status is StageStatus.OK
    result = fleet.run.record.result
    assert result is not None
    assert [cell.id for cell in result.cells] == ["c0", "c1"]
    written = json.loads((fleet.run.folder.path / "verdicts.json").read_text())
    assert written["exit_code"] == 3
    assert "RuntimeError: no GPU" in (fleet.run.folder.path / "report.html").read_text()
