"""The loop: which stages run when, and what a failure of one means for the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from atomcfg.plan import QuantParity
from atomrun.context import Options
from atomrun.host import Completed, HostError
from atomrun.perform import When
from atomrun.results import CellState, RunVerdict
from atomrun.run import STAGES, check_only, clean_up, execute

from .runs import RUN_DIR, Fleet, answer, container_plan, healthy_host, host_script, probe, with_ranks

FleetOf = Callable[..., Fleet]


def stages(fleet: Fleet) -> list[str]:
    return [f"{result.stage}:{result.status}" for result in fleet.run.record.stages]


def test_a_healthy_run_walks_every_stage_in_order(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(cells=2), healthy_host(cells=2))
    result = execute(fleet.run)
    assert result.verdict is RunVerdict.PASS
    assert [name.partition(":")[0] for name in stages(fleet)] == [
        "preflight", "pull", "flags", "launch", "fabric", "model", "start", "ready", "functional",
        "bench", "collect", "judge", "bench", "collect", "judge",
        "accuracy", "long_context", "mtp_quality", "quant_parity",
        "gpu_metrics", "stop", "dmesg", "teardown", "report",
    ]  # fmt: skip
    assert [stage.name for stage in STAGES if stage.when is not When.RESUME] == list(
        dict.fromkeys(name.partition(":")[0] for name in stages(fleet))
    )
    assert (fleet.run.folder.path / "verdicts.json").is_file()
    assert fleet.head.owner is None
    assert fleet.head.closed


def test_intent_and_outcome_of_every_stage_are_in_the_journal(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    execute(fleet.run)
    names = [stage.name for stage in STAGES if stage.when is not When.RESUME]
    for name in names:
        events = [line["event"] for line in fleet.journal() if line.get("step") == name]
        assert events == ["begin", "end"], name
    numbers = [line["n"] for line in fleet.journal()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_preflight_finds_ends_the_run_before_anything_starts(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*host_script("preflight"), then=Completed(0, b"runtime\tdocker\nimage\tabsent\ndisk_kb\t99999999\n"))
    fleet = fleet_of(container_plan(), host)
    result = execute(fleet.run)
    assert result.verdict is RunVerdict.INFRASTRUCTURE
    assert stages(fleet) == ["preflight:failed", "dmesg:skipped", "teardown:ok", "report:ok"]
    assert host.jobs == {}
    assert host.owner is None, "the lock is given back"


def test_a_launch_that_fails_is_torn_down(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on_start("container-up", code=125, err=b"docker: Error response from daemon: no such device\n")
    fleet = fleet_of(container_plan(), host)
    result = execute(fleet.run)
    assert result.verdict is RunVerdict.INFRASTRUCTURE
    assert "launch:failed" in stages(fleet)
    assert "no such device" in result.reasons[0]
    assert host.jobs["container"].ended is not None, "the job that owns the container removes it when it is stopped"


def test_an_invalid_cell_does_not_end_the_others(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=3)
    host.on_start("cell-1.1", code=3, err=b"Traceback (most recent call last):\nValueError: no such dataset\n")
    fleet = fleet_of(container_plan(cells=3), host)
    result = execute(fleet.run)
    assert [cell.state for cell in result.cells] == [CellState.VALID, CellState.INVALID, CellState.VALID]
    assert result.cells[1].reason.startswith("the client ended with status 3")
    assert "ValueError: no such dataset" in result.cells[1].hint
    assert result.verdict is RunVerdict.FAIL


def test_a_server_that_dies_takes_only_its_cell_with_it(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=3)
    host.runs_on("cell-1.1")
    host.effects["cell-1.1"] = lambda: host.end(
        "server-0.1", 1, err=b"torch.OutOfMemoryError: HIP out of memory.\n"
    )
    fleet = fleet_of(container_plan(cells=3), host)
    result = execute(fleet.run)
    assert [cell.state for cell in result.cells] == [CellState.VALID, CellState.INCOMPLETE, CellState.VALID]
    assert result.cells[1].reason == (
        "the server of rank 0 on 10.0.0.1 ended with status 1: torch.OutOfMemoryError: HIP out of memory."
    )
    assert host.jobs["cell-1.1"].ended is not None, "its client is stopped"
    assert [name for name in host.jobs if name.startswith("server")] == ["server-0.1", "server-0.2"]
    assert result.verdict is RunVerdict.INFRASTRUCTURE


def test_a_server_that_dies_in_the_last_cell_is_started_again_for_the_checks(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=1)
    host.runs_on("cell-0.1")
    host.effects["cell-0.1"] = lambda: host.end("server-0.1", 1)
    host.on_start("fingerprint-0.2", out=answer({"sha256": "ab", "text": "Paris", "error": "", "stable": True}))
    plan = container_plan()
    checks = evolve(plan.checks, quant_parity=QuantParity("The capital of France is", "", ()))
    result = execute(fleet_of(evolve(plan, checks=checks), host).run)
    assert [(block.block, block.status) for block in result.blocks] == [("quant_parity", "ok")]


def test_a_session_that_does_not_open_leaves_its_cells_incomplete(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=2)
    late = {"ready": False, "rung": "health", "reason": "/health answers 503", "final": False}
    host.on_start("ready-0.1", out=answer({**late, "seconds": 600.0, "uptime": 1.0}))
    fleet = fleet_of(container_plan(cells=2), host)
    result = execute(fleet.run)
    assert {cell.reason for cell in result.cells} == {
        "the server is not ready after 600 s: /health answers 503 (health)"
    }
    assert "bench:ok" not in stages(fleet)
    assert stages(fleet)[-4:] == ["stop:ok", "dmesg:skipped", "teardown:ok", "report:ok"]


def test_one_failed_session_does_not_end_the_others(fleet_of: FleetOf) -> None:
    plan = container_plan(cells=2)
    first = evolve(plan.sessions[0], cells=("c0",))
    second = evolve(plan.sessions[0], index=1, cells=("c1",))
    cells = (plan.cells[0], evolve(plan.cells[1], session=1))
    host = healthy_host(cells=2)
    final = {
        "ready": False,
        "rung": "model",
        "reason": "serves another",
        "final": True,
        "seconds": 1.0,
        "uptime": 1.0,
    }
    host.on_start("ready-0.1", out=answer(final))
    host.on_start("ready-1.1", out=answer({**final, "ready": True}))
    result = execute(fleet_of(evolve(plan, sessions=(first, second), cells=cells), host).run)
    assert [cell.state for cell in result.cells] == [CellState.INCOMPLETE, CellState.VALID]


def test_fail_fast_leaves_the_rest_out(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=3)
    host.on_start("cell-0.1", code=3)
    fleet = fleet_of(container_plan(cells=3), host, options=Options(fail_fast=True))
    result = execute(fleet.run)
    assert [cell.reason.partition(" (")[0] for cell in result.cells[1:]] == ["left out after a failure"] * 2
    assert "cell-1.1" not in host.jobs
    assert host.owner is None


def test_fail_fast_after_a_session_that_does_not_open(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=1)
    host.on(*probe("free"), then=Completed(0, answer({"8000": {"17": "python other.py"}})))
    fleet = fleet_of(container_plan(), host, options=Options(fail_fast=True))
    assert execute(fleet.run).verdict is RunVerdict.INFRASTRUCTURE
    assert stages(fleet)[-3:] == ["dmesg:skipped", "teardown:ok", "report:ok"]


def test_cells_and_checks_can_be_left_out(fleet_of: FleetOf) -> None:
    plan = container_plan(cells=2)
    fleet = fleet_of(evolve(plan, checks=evolve(plan.checks, api_smoke=True)), healthy_host(cells=2))
    fleet.run.record.deselected.update({"c0": "left out (--cell)", "functional": "left out (--cell)"})
    result = execute(fleet.run)
    assert [cell.state for cell in result.cells] == [CellState.INCOMPLETE, CellState.VALID]
    assert result.verdict is RunVerdict.PASS
    assert "functional:skipped" in stages(fleet)


def test_an_interrupt_while_a_client_runs_stops_everything_gracefully(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=2)
    host.runs_on("cell-0.1")
    fleet = fleet_of(container_plan(cells=2), host)
    host.effects["cell-0.1"] = fleet.run.interrupts.interrupt
    result = execute(fleet.run)
    assert result.verdict is RunVerdict.INTERRUPTED
    assert stages(fleet)[-5:] == ["gpu_metrics:skipped", "stop:ok", "dmesg:skipped", "teardown:ok", "report:ok"]
    assert [cell.reason for cell in result.cells] == ["interrupted", "never ran"]
    stops = [call[1:] for call in host.calls if call[0] == "stop"]
    assert [name for name, _ in stops[:2]] == ["cell-0.1", "server-0.1"], "the client before the server"
    assert all(grace > 0 for _, grace in stops)
    assert ("release", 10.0) in host.calls
    assert host.owner is None


def test_a_second_interrupt_leaves_no_grace(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.runs_on("cell-0.1")
    fleet = fleet_of(container_plan(), host)

    def twice() -> None:
        fleet.run.interrupts.interrupt()
        fleet.run.interrupts.interrupt()

    host.effects["cell-0.1"] = twice
    assert execute(fleet.run).verdict is RunVerdict.INTERRUPTED
    assert {call[2] for call in host.calls if call[0] == "stop"} == {0}
    assert ("release", 0.0) in host.calls


def test_a_node_that_is_lost_in_a_cell_is_infrastructure_and_the_rest_goes_on(fleet_of: FleetOf) -> None:
    host = healthy_host(cells=2)
    fleet = fleet_of(container_plan(cells=2), host)
    host.fail("get", HostError("10.0.0.1", "timeout", "no answer within 60 s", "look at the network"))
    result = execute(fleet.run)
    assert [cell.state for cell in result.cells] == [CellState.INCOMPLETE, CellState.VALID]
    assert result.cells[0].reason == "10.0.0.1: no answer within 60 s"
    assert result.verdict is RunVerdict.INFRASTRUCTURE


def test_a_fault_of_ours_still_tears_down(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.on(*probe("weights"), then=KeyError("a fault of ours"))
    with pytest.raises(KeyError):
        execute(fleet_of(container_plan(), host).run)
    assert host.owner is None
    assert host.closed


def test_all_ranks_are_started_and_any_death_ends_the_load(fleet_of: FleetOf) -> None:
    plan = with_ranks(container_plan(), 2)
    hosts = healthy_host(0), healthy_host(1)
    hosts[0].runs_on("ready-0.1")
    hosts[0].effects["ready-0.1"] = lambda: hosts[1].end(
        "server-0.1", 137, err=b"RCCL error: unhandled system error\n"
    )
    fleet = fleet_of(plan, *hosts)
    result = execute(fleet.run)
    reason = (
        "the server of rank 1 on 10.0.0.2 ended with signal 9, cause unknown: RCCL error: unhandled system error"
    )
    assert result.cells[0].reason == reason
    assert all(host.jobs["server-0.1"].ended for host in hosts)
    assert all(host.owner is None for host in hosts)


def test_preflight_alone_gives_the_nodes_back(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    assert check_only(fleet.run)
    assert stages(fleet) == ["preflight:ok", "flags:ok", "teardown:ok"]
    assert fleet.head.owner is None
    bad = healthy_host()
    bad.on(*host_script("preflight"), then=Completed(0, b"missing\t/srv/models\n"))
    assert not check_only(fleet_of(container_plan(), bad).run)
    assert bad.owner is None


def test_no_secret_is_in_what_a_run_writes(fleet_of: FleetOf) -> None:
    host = healthy_host()
    leak = b"token is hf_canary_0001, as base64 aGZfY2FuYXJ5XzAwMDE=\n"
    host.on_start("cell-0.1", code=3, out=leak, err=b"ValueError: bad token hf_canary_0001\n")
    fleet = fleet_of(container_plan(), host)
    execute(fleet.run)
    assert host.secrets == {}, "the node forgets it"
    for path in fleet.run.folder.path.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert b"hf_canary_0001" not in data, path
        assert b"aGZfY2FuYXJ5XzAwMDE" not in data, path
    assert "hf_canary" not in repr(fleet.events)
    argvs = [word for argv in host.argvs for word in argv]
    assert not [word for word in argvs if "hf_canary" in word]


def test_artifacts_come_from_the_attempts_own_directory(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    execute(fleet.run)
    assert ("get", f"{RUN_DIR}/c0/results.json") in fleet.head.calls
    assert (fleet.run.folder.path / "artifacts/c0/results.json").is_file()
    assert (fleet.run.folder.path / "artifacts/c0/attempt.json").is_file()


# --- giving back what a dead launcher left


def test_what_a_dead_run_left_is_taken_over_and_torn_down(fleet_of: FleetOf) -> None:
    host = healthy_host()
    dead = fleet_of(container_plan(), host)
    host.fail("release", HostError("10.0.0.1", "unreachable", "the launcher was killed"))
    execute(dead.run)
    assert host.owner is not None
    fleet = fleet_of(container_plan(), host)
    assert clean_up(fleet.run)
    assert host.owner is None
    assert fleet.told("finding") == [("lock", "ok", "was still held by this run")]
    assert clean_up(fleet_of(container_plan(), host).run), "a second time there is nothing to do"


def test_a_node_that_another_run_has_now_is_left_alone(fleet_of: FleetOf) -> None:
    host = healthy_host()
    host.owner = {"run": "other", "who": "bob@x", "since": "noon"}
    fleet = fleet_of(container_plan(), host)
    assert clean_up(fleet.run)
    assert host.owner["run"] == "other"
    assert "nothing of this run is left" in fleet.told("finding")[0][2]


def test_a_node_that_cannot_be_reached_is_not_clean(fleet_of: FleetOf) -> None:
    hosts = healthy_host(0), healthy_host(1)

    def connect(rank: int) -> object:
        if rank:
            raise HostError("10.0.0.2", "unreachable", "connection timed out")
        return hosts[0]

    fleet = fleet_of(with_ranks(container_plan(), 2), *hosts, connect=connect)
    assert not clean_up(fleet.run)
    assert hosts[0].owner is None


def test_what_a_stage_may_not_ask_for_yet_is_a_fault_of_ours(fleet_of: FleetOf) -> None:
    run = fleet_of(container_plan(), healthy_host()).run
    for ask in (lambda: run.the_session, lambda: run.the_cell, lambda: run.head.host, lambda: run.head.inside):
        with pytest.raises(AssertionError):
            ask()
