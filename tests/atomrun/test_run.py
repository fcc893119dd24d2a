"""The loop: which stages run when, and what a failure of one means for the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from atomrun.context import Options
from atomrun.host import Completed, HostError
from atomrun.results import CellState, RunVerdict
from atomrun.run import STAGES, check_only, execute

from .runs import RUN_DIR, Fleet, answer, container_plan, healthy_host, host_script, probe, with_ranks

FleetOf = Callable[..., Fleet]


def stages(fleet: Fleet) -> list[str]:
    return [f"{result.stage}:{result.status}" for result in fleet.run.record.stages]


def test_a_healthy_run_walks_every_stage_in_order(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(cells=2), healthy_host(cells=2))
    result = execute(fleet.run)
    assert result.verdict is RunVerdict.PASS
    assert [name.partition(":")[0] for name in stages(fleet)] == [
        "preflight", "pull", "launch", "fabric", "model", "start", "ready", "functional",
        "bench", "collect", "judge", "bench", "collect", "judge",
        "accuracy", "long_context", "mtp_quality", "quant_parity",
        "gpu_metrics", "stop", "dmesg", "teardown", "report",
    ]  # fmt: skip
    assert [stage.name for stage in STAGES] == list(dict.fromkeys(name.partition(":")[0] for name in stages(fleet)))
    assert (fleet.run.folder.path / "verdicts.json").is_file()
    assert fleet.head.owner is None
    assert fleet.head.closed


def test_intent_and_outcome_of_every_stage_are_in_the_journal(fleet_of: FleetOf) -> None:
    fleet = fleet_of(container_plan(), healthy_host())
    execute(fleet.run)
    names = [stage.name for stage in STAGES]
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
    host.on("docker", "run", then=Completed(125, b"", b"docker: Error response from daemon: no such device\n"))
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
    host.effects["cell-1.1"] = lambda: host.end("server-0.1", 1, err=b"torch.OutOfMemoryError: HIP out of memory.\n")
    fleet = fleet_of(container_plan(cells=3), host)
    result = execute(fleet.run)
    assert [cell.state for cell in result.cells] == [CellState.VALID, CellState.INCOMPLETE, CellState.VALID]
    assert result.cells[1].reason == (
        "the server of rank 0 on 10.0.0.1 ended with status 1: torch.OutOfMemoryError: HIP out of memory."
    )
    assert host.jobs["cell-1.1"].ended is not None, "its client is stopped"
    assert [name for name in host.jobs if name.startswith("server")] == ["server-0.1", "server-0.2"]
    assert result.verdict is RunVerdict.INFRASTRUCTURE
