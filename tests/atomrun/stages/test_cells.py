"""One cell: bench, collect, judge."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from attrs import evolve
from tests.atomrun.runs import RUN_DIR, Fleet, container_plan, healthy_host
from tests.judging import artifact

from atomrun.context import CellRun, RunContext
from atomrun.host import HostError
from atomrun.results import CellState, StageStatus
from atomrun.stages.bench import bench
from atomrun.stages.collect import collect
from atomrun.stages.judge import judge
from atomrun.stages.launch import launch
from atomrun.stages.preflight import preflight
from atomrun.stages.start import start

FleetOf = Callable[..., Fleet]


def at_cell(fleet: Fleet) -> RunContext:
    preflight(fleet.run)
    launch(fleet.run)
    run = fleet.opened()
    start(run)
    return run.at(run.session, CellRun(run.plan.cells[0], 0))


def test_the_client_gets_its_argv_environment_secrets_and_a_fresh_directory(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert bench(at_cell(fleet)).reason == "42.0 s"
    spec = fleet.head.jobs["cell-0.1"].spec
    record, fresh, *argv = spec.argv[spec.argv.index("atomrun") + 1 :]
    assert record == "/tmp/atomrun-run-1/jobs/cell-0.1"
    assert fresh == f"{RUN_DIR}/c0"
    assert argv == ["python", "-m", "client", f"--result-dir={RUN_DIR}/c0"]
    assert "LEVEL=1" in spec.argv
    assert spec.secret_input == (("HF_TOKEN", "hf_token"),)
    assert spec.deadline_s == 600


def test_a_secret_without_a_file_is_left_out(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host(), secrets={"other": b"x"})
    bench(at_cell(fleet))
    assert fleet.head.jobs["cell-0.1"].spec.secret_input == ()


def test_a_cell_has_what_the_gpus_did_while_its_client_ran(fleet_of: FleetOf) -> None:
    plan = container_plan()
    fleet = fleet_of(evolve(plan, checks=evolve(plan.checks, gpu_metrics_poll=True)), healthy_host())
    run = at_cell(fleet)
    said = [f'@ {at}.0 amd-smi\n[{{"gpu": 0, "power": {{"socket_power": {{"value": {watts}}}}}}}]' for at, watts in
            ((10, 100), (60, 700), (80, 900))]  # fmt: skip
    fleet.head.jobs["gpu-0.1"].out = "\n".join(said).encode()
    assert [stage(run).status for stage in (bench, collect, judge)] == [StageStatus.OK] * 3
    assert fleet.run.record.cells[0].values["gpu.power_w"] == 800
    kept = json.loads((fleet.run.folder.path / "artifacts/c0/attempt.json").read_text())
    assert kept["polled"] == {"gpu.power_w": 800}


def test_a_cell_that_goes_well(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    run = at_cell(fleet)
    assert [stage(run).status for stage in (bench, collect, judge)] == [StageStatus.OK] * 3
    (result,) = fleet.run.record.cells
    assert (result.state, result.seconds, result.attempt) == (CellState.VALID, 42.0, 1)
    kept = json.loads((fleet.run.folder.path / "artifacts/c0/attempt.json").read_text())
    assert kept == {
        "cell": "c0", "attempt": 1, "exit": 0, "began": "20260501-120000", "seconds": 42.0, "polled": {},
    }  # fmt: skip
    assert (fleet.run.folder.path / "logs/cell-0.1.out.log").is_file()
    assert fleet.told("cell") == [("c0", "valid", "")]


@pytest.mark.parametrize(
    ("ending", "bench_status", "collect_status", "reason"),
    [
        ({"code": 3}, StageStatus.WARNING, StageStatus.WARNING, "the client ended with status 3"),
        ({"code": 137}, StageStatus.WARNING, StageStatus.WARNING, "the client ended with signal 9, cause unknown"),
        ({"code": 0}, StageStatus.OK, StageStatus.WARNING, "the client left no artifact results.json"),
        (
            {"code": 0, "files": {f"{RUN_DIR}/c0/results.json": b"{"}},
            StageStatus.OK,
            StageStatus.OK,
            "the artifact breaks off after 1 characters",
        ),
        (
            {"code": 0, "files": {f"{RUN_DIR}/c0/results.json": artifact(completed=70).encode()}},
            StageStatus.OK,
            StageStatus.OK,
            "10 requests failed of 80",
        ),
    ],
)  # fmt: skip
def test_an_invalid_cell_says_why(
    fleet_of: FleetOf,
    ending: dict[str, object],
    bench_status: StageStatus,
    collect_status: StageStatus,
    reason: str,
) -> None:
    host = healthy_host()
    host.on_start("cell-0.1", **ending)
    fleet = fleet_of(container_plan(), host)
    run = at_cell(fleet)
    assert (bench(run).status, collect(run).status, judge(run).status) == (
        bench_status, collect_status, StageStatus.OK,
    )  # fmt: skip
    (result,) = fleet.run.record.cells
    assert result.state is CellState.INVALID
    assert reason in result.reason
    assert "logs/cell-0.1.err.log" in result.hint


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ({"state": "deadline"}, "cell-0.1 did not end within its 600 s"),
        ({"state": "lost"}, "cell-0.1 ended without a record: its supervisor on the node was killed"),
    ],
)
def test_a_client_that_does_not_end_by_itself_leaves_the_cell_incomplete(
    fleet_of: FleetOf, ending: dict[str, object], reason: str
) -> None:
    host = healthy_host()
    host.on_start("cell-0.1", **ending)
    fleet = fleet_of(container_plan(), host)
    run = at_cell(fleet)
    assert bench(run).status is StageStatus.FAILED
    assert collect(run).status is StageStatus.SKIPPED
    judge(run)
    (result,) = fleet.run.record.cells
    assert (result.state, result.reason) == (CellState.INCOMPLETE, reason)
    assert (fleet.run.folder.path / "logs/cell-0.1.out.log").is_file(), "its log is kept all the same"


def test_a_dead_session_starts_no_client(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    run = at_cell(fleet)
    run.the_session.dead = "the server is gone"
    assert bench(run).status is StageStatus.FAILED
    assert "cell-0.1" not in fleet.head.jobs
    assert collect(run).reason == "the client never started"
    judge(run)
    assert fleet.run.record.cells[0].reason == "the server is gone"


def test_a_warm_cell_costs_few_round_trips(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    run = at_cell(fleet)
    before = len(fleet.head.calls)
    for stage in (bench, collect, judge):
        stage(run)
    looked, *rest = [call[0] for call in fleet.head.calls[before:]]
    assert looked == "run", "once a session: does the server tell of its prefix cache?"
    assert rest == ["start", "wait", "output", "output", "get"]


def test_a_node_that_breaks_while_a_client_runs_ends_the_session(fleet_of: FleetOf) -> None:
    host = healthy_host()
    run = at_cell(fleet_of(container_plan(), host))
    host.fail("wait", HostError("10.0.0.1", "lease", "the lease ran out"))
    with pytest.raises(HostError, match="the lease ran out"):
        bench(run)
    assert run.the_session.dead == "10.0.0.1 could not be asked any more: the lease ran out"


def test_a_client_that_outlives_its_deadline_on_the_node_is_stopped(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.runs_on("cell-0.1")
    run = at_cell(fleet_of(container_plan(), host))
    late = evolve(run.the_cell.cell, deadline_s=-60)  # the margin that the node has is 60 s: over at once
    result = bench(run.at(run.session, CellRun(late, 0)))
    assert result.reason == "cell-0.1 did not end within its -60 s"
    assert host.jobs["cell-0.1"].ended is not None


def test_other_jobs_of_the_session_do_not_end_a_cell(fleet_of: FleetOf) -> None:
    host = healthy_host()
    run = at_cell(fleet_of(container_plan(), host))
    run.the_session.watch.follow(host, ["container"], 60.0)
    host.end("container", 0)
    assert bench(run).status is StageStatus.OK


def test_a_server_whose_log_cannot_be_read_is_dead_all_the_same(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.runs_on("cell-0.1")
    run = at_cell(fleet_of(container_plan(), host))

    def die() -> None:
        host.fail("output", *(HostError("10.0.0.1", "disk", "gone") for _ in range(2)))
        host.end("server-0.1", 1)

    host.effects["cell-0.1"] = die
    assert bench(run).reason == "the server of rank 0 on 10.0.0.1 ended with status 1"
