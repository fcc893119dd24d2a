"""Containers: who may be started, attached to or replaced, and what is put into them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import (
    NAME,
    RUN_ID,
    Fleet,
    LiveHost,
    container_plan,
    healthy_host,
    host_script,
    inside_script,
    with_ranks,
)

from atomrun.host import Completed, HostError
from atomrun.kernel import marker
from atomrun.results import StageResult, StageStatus
from atomrun.stages.launch import launch
from atomrun.stages.preflight import preflight

FleetOf = Callable[..., Fleet]
UNMARKED = ("env", "-u", "ATOMRUN_JOB", "-u", "ATOMRUN_DIR")
OURS = f"abc|true|me@here|{RUN_ID}|sha256:aaaa"


def launched(fleet: Fleet) -> StageResult:
    preflight(fleet.run)
    return launch(fleet.run)


def seen(host: LiveHost, text: str, code: int = 0) -> LiveHost:
    host.on(*host_script("container_state"), then=Completed(code, text.encode(), b"Cannot connect to the daemon\n"))
    return host


def starts(host: LiveHost) -> list[tuple[str, ...]]:
    return [argv[len(UNMARKED) :] for argv in host.argvs if argv[: len(UNMARKED)] == UNMARKED]


def test_a_container_is_started_with_the_plans_argv_and_owned_by_a_job(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert launched(fleet).reason == "1 containers started"
    argv = ("docker", "run", "-d", "--name", f"{NAME}0", "--network", "host", "rocm/atom:1", "infinity")
    assert starts(fleet.head) == [argv]
    guard = fleet.head.jobs["container"].spec
    assert guard.stop_argv[3:] == ("container_remove", RUN_ID, f"{NAME}0", "docker")
    jobs = list(fleet.head.jobs)
    assert jobs.index("container") < jobs.index("container-up"), "there is no moment without an owner"


def test_our_tools_and_secrets_arrive(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    launched(fleet)
    call = next(call for call in fleet.head.calls if call[0] == "run" and call[1][:7] == inside_script("install"))
    assert call[1][7:] == ("install", f"/tmp/atomrun-{RUN_ID}", f"/logs/atomrun/{RUN_ID}")
    assert call[2].startswith(b"PK"), "the probe as a zip archive, on standard input"
    assert fleet.head.secrets == {"hf_token": b"hf_canary_0001"}
    assert fleet.run.head.inside.python == "python3"


@pytest.mark.parametrize(
    ("lifetime", "states", "reason"),
    [
        ("per_run", ["abc|true|||x"], "exists and is not ours"),
        ("per_run", ["abc|true|bob@x|other|x"], "belongs to run other of bob@x"),
        ("per_run", ["abc|<no value>|<no value>|<no value>|x"], "exists and is not ours"),
        ("per_run", ["gibberish"], "may or may not be there: unexpected answer"),
        ("persistent", ["abc|false|||x"], "exists and is not ours"),
        ("persistent", ["abc|false|bob@x|old|x"], "belongs to run old of bob@x"),
        ("persistent", ["abc|true|me@here|old|x", "absent"], "persistent: the container runs on 10.0.0.1 only"),
        ("no_launch", ["abc|true|||x", "abc|false|||x"], "no_launch: the container does not run on 10.0.0.2"),
        ("no_launch", ["absent"], "no_launch: the container does not run on 10.0.0.1"),
    ],
)
def test_what_is_there_may_forbid_to_go_on(
    fleet_of: FleetOf, lifetime: str, states: list[str], reason: str
) -> None:
    hosts = [seen(healthy_host(rank), state) for rank, state in enumerate(states)]
    fleet = fleet_of(with_ranks(container_plan(lifetime=lifetime), len(hosts)), *hosts)
    result = launched(fleet)
    assert result.status is StageStatus.FAILED
    assert reason in result.reason
    assert all(starts(host) == [] for host in hosts)


def test_a_runtime_that_does_not_answer_removes_nothing(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), seen(healthy_host(), "", code=3))
    assert launched(fleet).reason.endswith("Cannot connect to the daemon")
    assert not [argv for argv in fleet.head.argvs if "container_remove" in argv or "rm" in argv]


def test_what_an_earlier_attempt_of_this_run_left_is_replaced(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), seen(healthy_host(), OURS))
    assert launched(fleet).status is StageStatus.OK
    removals = [argv for argv in fleet.head.argvs if argv[3:4] == ("container_remove",)]
    assert len(removals) == 1
    assert len(starts(fleet.head)) == 1


@pytest.mark.parametrize("lifetime", ["persistent", "no_launch"])
def test_a_running_container_is_attached_to(fleet_of: FleetOf, lifetime: str) -> None:
    host = seen(healthy_host(), "abc|true|||sha256:aaaa")
    host.on(*inside_script("install", "box"), then=Completed(0, b"/usr/bin/python3\n"))
    fleet = fleet_of(container_plan(lifetime=lifetime), host)
    assert launched(fleet).reason == "0 containers started"
    assert starts(host) == []
    assert "container" not in host.jobs, "it is not ours to remove"
    assert fleet.run.head.inside.container == "box"


@pytest.mark.parametrize(
    ("state", "removed"), [("absent", []), ("abc|false|me@here|old|x", [("docker", "rm", "abc")])]
)
def test_a_persistent_container_is_started_where_it_runs_nowhere(
    fleet_of: FleetOf, state: str, removed: list[tuple[str, ...]]
) -> None:
    host = seen(healthy_host(), state)
    host.on(*inside_script("install", "box"), then=Completed(0, b"python3\n"))
    fleet = fleet_of(container_plan(lifetime="persistent"), host)
    assert launched(fleet).reason == "1 containers started"
    assert "container" not in host.jobs
    assert [argv for argv in host.argvs if argv[:2] == ("docker", "rm")] == removed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (3, "cannot write to /tmp/atomrun-run-1"),
        (4, "cannot make /logs/atomrun/run-1"),
        (5, "there is no Python"),
        (126, "x"),
    ],
)
def test_a_container_that_cannot_be_prepared(fleet_of: FleetOf, code: int, reason: str) -> None:
    host = healthy_host()
    host.on(*inside_script("install"), then=Completed(code, b"", b"x\n"))
    with pytest.raises(HostError, match=reason):
        launched(fleet_of(container_plan(), host))


def test_a_stale_container_that_stays_is_an_error(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("container_remove"), then=Completed(4, b"", b"belongs to another\n"))
    with pytest.raises(HostError, match="cannot be removed: belongs to another"):
        launched(fleet_of(container_plan(), host))


def test_the_kernel_log_is_marked_where_it_will_be_scanned(fleet_of: FleetOf) -> None:
    plan = container_plan()
    for wanted in (True, False):
        host = healthy_host()
        launched(fleet_of(evolve(plan, checks=evolve(plan.checks, dmesg_scan=wanted)), host))
        assert [argv[4] for argv in host.argvs if argv[3:4] == ("kernel_mark",)] == [marker(RUN_ID)] * wanted


def test_baremetal_runs_on_the_host(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, b"disk_kb\t99999999\n"))
    host.on(*host_script("install"), then=Completed(0, b"/usr/bin/python3\n"))
    fleet = fleet_of(evolve(container_plan(), container=None), host)
    assert launched(fleet).reason == "on the host"
    assert fleet.run.head.inside.container == ""
    assert fleet.run.head.inside.probe == ("/usr/bin/python3", f"{host.root}/tools/probe.pyz")
