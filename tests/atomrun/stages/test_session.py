"""Opening and closing a session: start, ready, functional, stop, and the GPU poll between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import RUN_ID, Fleet, answer, container_plan, healthy_host, host_script, probe, with_ranks

from atomrun.context import RunContext
from atomrun.host import Completed, HostError
from atomrun.results import BlockResult, StageStatus
from atomrun.stages.functional import functional
from atomrun.stages.gpu_metrics import gpu_metrics
from atomrun.stages.launch import launch
from atomrun.stages.preflight import preflight
from atomrun.stages.ready import ready
from atomrun.stages.start import start
from atomrun.stages.stop import stop

FleetOf = Callable[..., Fleet]
JOB = "server-0.1"


def opened(fleet: Fleet) -> RunContext:
    preflight(fleet.run)
    launch(fleet.run)
    return fleet.opened()


def with_checks(**wanted: object) -> object:
    plan = container_plan()
    return evolve(plan, checks=evolve(plan.checks, **wanted))


# --- start


def test_a_server_starts_on_every_rank(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    run = opened(fleet_of(with_ranks(container_plan(), 2), *hosts))
    assert start(run).reason == "2 ranks"
    for rank, host in enumerate(hosts):
        spec = host.jobs[JOB].spec
        assert spec.argv[-3:] == ("python", "-m", "server")
        assert f"ATOMRUN_JOB={RUN_ID}/{JOB}" in spec.argv
        assert f"box-{RUN_ID}-r{rank}" in spec.argv


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ({"8000": {"17": "python other.py"}}, "port 8000 is in use by pid 17 (python other.py)"),
        ({"8000": {}}, "port 8000 is in use by a process not visible from here"),
    ],
)
def test_a_port_in_use_names_its_holder(fleet_of: FleetOf, held: dict[str, object], reason: str) -> None:
    host = healthy_host()
    host.on(*probe("free"), then=Completed(0, answer(held)))
    run = opened(fleet_of(container_plan(), host))
    result = start(run)
    assert (result.status, result.reason, run.the_session.dead) == (StageStatus.FAILED, reason, reason)
    assert JOB not in host.jobs


def test_a_rank_that_cannot_be_started_ends_the_session(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    run = opened(fleet_of(with_ranks(container_plan(), 2), *hosts))
    hosts[1].fail("start", HostError("10.0.0.2", "disk", "no space left"))
    with pytest.raises(HostError, match="no space left"):
        start(run)
    assert run.the_session.dead == "the server of 10.0.0.2 could not be started: no space left"
    assert run.the_session.started, "so that what did start is stopped"


def test_the_node_ends_a_server_by_the_sessions_budgets(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(cells=2), healthy_host())
    start(opened(fleet))
    assert fleet.head.jobs[JOB].spec.deadline_s == 600 + 2 * 600 + 3600


# --- ready


def test_ready(fleet_of: FleetOf) -> None:
    run = opened(fleet_of(container_plan(), healthy_host()))
    start(run)
    assert ready(run).reason == "after 1.5 s"
    assert run.the_session.served


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            {"final": False, "rung": "port", "reason": "nothing listens"},
            "the server is not ready after 600 s: nothing listens (port)",
        ),
        ({"final": True, "rung": "model", "reason": "serves x"}, "the server is not ready: serves x (model)"),
    ],
)
def test_not_ready(fleet_of: FleetOf, told: dict[str, object], reason: str) -> None:
    host = healthy_host()
    host.on_start("ready-0.1", out=answer({"ready": False, "seconds": 600.0, "uptime": 1.0, **told}))
    run = opened(fleet_of(container_plan(), host))
    start(run)
    assert ready(run).reason == reason
    assert run.the_session.dead == reason


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (
            {"code": 1, "out": b'@@ATOMRUN {"error": "connection refused"}\n'},
            "the server gave no answer: connection refused",
        ),
        (
            {"code": 1, "err": b"SyntaxError: invalid syntax\n"},
            "the probe did not run: SyntaxError: invalid syntax",
        ),
        ({"code": 127}, "the probe did not run: no output"),
        ({"state": "lost"}, "ready-0.1 ended without a record: its supervisor on the node was killed"),
        ({"state": "deadline"}, "ready-0.1 did not end within its 660 s"),
    ],
)
def test_a_probe_that_fails(fleet_of: FleetOf, ending: dict[str, object], reason: str) -> None:
    host = healthy_host()
    host.on_start("ready-0.1", **ending)
    run = opened(fleet_of(container_plan(), host))
    start(run)
    assert ready(run).reason == reason


def test_a_death_while_loading_shows_the_end_of_the_log(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.runs_on("ready-0.1")
    log = b"".join(b"line %d\n" % number for number in range(150)) + b"error: unrecognized arguments: --bogus\n"
    host.effects["ready-0.1"] = lambda: host.end(JOB, 2, err=log)
    fleet = fleet_of(container_plan(), host)
    run = opened(fleet)
    start(run)
    result = ready(run)
    assert result.reason == (
        "the server of rank 0 on 10.0.0.1 ended with status 2: error: unrecognized arguments: --bogus"
    )
    assert f"logs/{JOB}.rank-0.err.log" in result.hint
    (text,) = [text for name, _, text in fleet.told("note") if name == "log"]
    assert text.splitlines()[0] == "line 51"
    assert len(text.splitlines()) == 100


# --- functional


def test_functional_checks_are_reported_one_by_one(fleet_of: FleetOf) -> None:
    host = healthy_host()
    questions = [
        {"name": "models", "reason": "", "note": "", "seconds": 0.1},
        {"name": "chat", "reason": "answers 500", "note": "", "seconds": 0.2},
        {"name": "unknown", "reason": "", "note": "any name will do", "seconds": 0.3},
    ]
    host.on_start("functional-0.1", out=answer({"api_smoke": questions, "health_check": questions[:1]}))
    fleet = fleet_of(with_checks(api_smoke=True, health_check=True), host)
    run = opened(fleet)
    start(run)
    assert functional(run).status is StageStatus.OK
    found = {block.id: (block.status, block.reason) for block in fleet.run.record.blocks}
    assert found == {"api_smoke": ("failed", "chat: answers 500"), "health_check": ("ok", "")}
    assert fleet.run.record.blocks[0].details == (
        "models: ok (0.10 s)", "chat: answers 500 (0.20 s)", "unknown: any name will do (0.30 s)",
    )  # fmt: skip
    assert fleet.run.record.warnings == ["api_smoke unknown: any name will do"]


def test_functional_checks_without_an_answer_are_errors(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("functional-0.1", code=1)
    fleet = fleet_of(with_checks(health_check=True), host)
    run = opened(fleet)
    start(run)
    functional(run)
    assert [(block.id, block.status) for block in fleet.run.record.blocks] == [("health_check", "error")]


# --- stop


def test_a_stop_is_proven(fleet_of: FleetOf) -> None:
    host = healthy_host()
    fleet = fleet_of(container_plan(), host)
    run = opened(fleet)
    start(run)
    host.jobs[JOB].out = b"hello\n" * 200_000
    assert stop(run).status is StageStatus.OK
    assert (fleet.run.folder.path / f"logs/{JOB}.rank-0.out.log").read_bytes() == b"hello\n" * 200_000
    order = next(argv[-1] for argv in host.argvs if "gone" in argv)
    assert '"ports": [8000]' in order
    assert stop(run).status is StageStatus.SKIPPED, "once is enough"


@pytest.mark.parametrize(
    ("gone", "survivors", "vram", "reason"),
    [
        ({"pids": [42], "ports": []}, (), b"", "processes survive the stop: 42"),
        ({"pids": [42], "ports": []}, (7,), b"", "processes survive the stop: 7, 42"),
        ({"pids": [], "ports": [8000]}, (), b"", "port 8000 is still open after the stop"),
        (
            {"pids": [], "ports": []},
            (),
            b"vram 112000000000\n",
            "104.0 GiB of GPU memory are still held after the stop",
        ),
    ],
)
def test_what_is_left_is_found(
    fleet_of: FleetOf, gone: dict[str, object], survivors: tuple[int, ...], vram: bytes, reason: str
) -> None:
    host = healthy_host()
    host.on(*probe("gone"), then=Completed(0, answer(gone)))
    host.on(*host_script("vram_settles"), then=Completed(0, vram))
    fleet = fleet_of(container_plan(), host)
    run = opened(fleet)
    run.head.vram_used = 330_000_000
    start(run)
    host.jobs[JOB].survivors = survivors
    result = stop(run)
    assert (result.status, result.reason) == (StageStatus.FAILED, reason)


def test_memory_that_is_back_is_fine(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("vram_settles"), then=Completed(0, b"vram 1330000000\n"))
    run = opened(fleet_of(container_plan(), host))
    run.head.vram_used = 330_000_000
    start(run)
    assert stop(run).status is StageStatus.OK


def test_a_node_that_does_not_answer_to_a_stop_is_a_failed_node(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)
    run = opened(fleet_of(with_ranks(container_plan(), 2), *hosts))
    start(run)
    hosts[1].fail("stop", HostError("10.0.0.2", "timeout", "no answer"))
    result = stop(run)
    assert (result.status, result.reason, result.node) == (StageStatus.FAILED, "no answer", "10.0.0.2")
    assert hosts[0].jobs[JOB].ended is not None


def test_a_log_that_cannot_be_read_is_said(fleet_of: FleetOf) -> None:
    host = healthy_host()
    fleet = fleet_of(container_plan(), host)
    run = opened(fleet)
    start(run)
    host.fail("output", HostError("10.0.0.1", "timeout", "no answer"))
    assert stop(run).status is StageStatus.OK
    assert ("note", "", f"the log of {JOB} on 10.0.0.1 is cut: no answer") in fleet.told("note")


# --- GPU poll

POLL = """\
@ 90.0 amd-smi
[{"gpu": 0, "usage": {"gfx_activity": {"value": 10}}, "mem_usage": {"used_vram": {"value": 300}}, "power": "N/A"}]
@ 101.0 amd-smi
[{"gpu": 0, "usage": {"gfx_activity": {"value": 90}}, "mem_usage": {"used_vram": {"value": 9300}}, "power": "N/A"}]
"""


def polled(fleet: Fleet, said: str) -> BlockResult:
    run = opened(fleet)
    start(run)
    fleet.head.jobs["gpu-0.1"].out = said.encode()
    ready(run)
    gpu_metrics(run)
    return fleet.run.record.blocks[-1]


def test_the_poll_runs_from_start_to_stop(fleet_of: FleetOf) -> None:
    fleet = fleet_of(with_checks(gpu_metrics_poll=True), healthy_host())
    block = polled(fleet, POLL)
    assert (block.block, block.id, block.status) == ("gpu_metrics", "session-0", "ok")
    assert block.values == {
        "gpu.peak_gpu_memory_mb": 9300.0,
        "gpu.gpu_compute_util_pct": 50.0,
        "gpu.model_load_s": 1.5,
        "gpu.model_load_memory_mb": 9000.0,
    }
    assert list(fleet.head.jobs)[-3:] == ["gpu-0.1", JOB, "ready-0.1"]


def test_a_node_without_a_tool_is_unsupported(fleet_of: FleetOf) -> None:
    block = polled(fleet_of(with_checks(gpu_metrics_poll=True), healthy_host()), "")
    assert block.status == "unsupported"
    assert block.reason == "no sample from 10.0.0.1: neither amd-smi nor rocm-smi answers"
    assert block.values == {"gpu.model_load_s": 1.5}


@pytest.mark.parametrize(("tools", "inside"), [("amd-smi python3", False), ("python3", True)])
def test_the_poll_runs_on_the_host_where_it_has_a_tool(fleet_of: FleetOf, tools: str, inside: bool) -> None:
    host = healthy_host()
    host.known_facts["tools"] = tools
    start(opened(fleet_of(with_checks(gpu_metrics_poll=True), host)))
    assert ("exec" in host.jobs["gpu-0.1"].spec.argv) is inside


def test_a_poll_that_cannot_be_started_does_not_end_the_run(fleet_of: FleetOf) -> None:
    host = healthy_host()
    fleet = fleet_of(with_checks(gpu_metrics_poll=True), host)
    run = opened(fleet)
    host.fail("start", HostError("10.0.0.1", "disk", "full"))
    assert start(run).status is StageStatus.OK
    assert ("note", "", "cannot start the GPU poll on 10.0.0.1: full") in fleet.told("note")


def test_nothing_started_is_nothing_polled(fleet_of: FleetOf) -> None:
    fleet = fleet_of(with_checks(gpu_metrics_poll=True), healthy_host())
    assert gpu_metrics(opened(fleet)).reason == "nothing was started"
    assert gpu_metrics(fleet_of(container_plan(), healthy_host()).opened()).reason == "not asked for"


def test_a_poll_of_a_server_that_never_came_up_has_no_load_time(fleet_of: FleetOf) -> None:
    fleet = fleet_of(with_checks(gpu_metrics_poll=True), healthy_host())
    run = opened(fleet)
    start(run)
    gpu_metrics(run)
    stop(run)
    assert fleet.run.record.blocks[0].values == {}
    assert fleet.head.jobs["gpu-0.1"].ended is not None


def test_a_plan_whose_ranks_are_mixed_up_is_refused(fleet_of: FleetOf) -> None:
    plan = container_plan()
    mixed = evolve(plan.sessions[0], ranks=(evolve(plan.sessions[0].ranks[0], rank=1),))
    run = opened(fleet_of(evolve(plan, sessions=(mixed,)), healthy_host()))
    with pytest.raises(HostError, match="the plan's rank 1 is at place 0"):
        start(run)


def test_a_probe_that_cannot_look_around_is_the_nodes_fault(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*probe("free"), then=Completed(1, b"", b"ImportError: No module named json\n"))
    run = opened(fleet_of(container_plan(), host))
    with pytest.raises(HostError, match="the probe failed: the probe did not run: ImportError"):
        start(run)
