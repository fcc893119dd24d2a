"""The whole tool against real nodes: compile an example, execute it over SSH in containers, leave nothing."""

from __future__ import annotations

import json
import signal

import pytest

from atomcfg.planio import load_plan
from atomcfg.tokens import fill_all

from .bench import CANARY, CELLS, DEMO, DISTRIBUTED, FAULT, Bench, until
from .checks import assert_clean
from .cluster import Cluster
from .node import Node

pytestmark = pytest.mark.usefixtures("tidy")


def test_compiled_example_runs_verbatim_over_ssh_in_a_container_and_passes(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=64", CELLS)
    server = fill_all(load_plan(plan.read_text()).sessions[0].ranks[0].argv)
    with bench.executing(plan) as (process, events):
        until(events, "bench")
        seen = [process.argv for process in node.processes()]
        (container,) = node.containers("label=atomrun.run")
        inspected = node.exec(["podman", "inspect", container["Id"]]).stdout
        rest = list(events)
    assert process.returncode == 0, rest
    assert server in seen, "the server runs with the plan's argv"
    assert CANARY not in inspected
    assert not [argv for argv in seen if CANARY in " ".join(argv)]
    assert bench.verdicts["verdict"] == "PASS"
    assert [cell["state"] for cell in bench.verdicts["cells"]] == ["valid"] * 2
    assert bench.verdicts["specs_evaluated"] > 40
    assert "atomrun.owner" in container["Labels"]


def test_a_bound_that_must_fail_exits_1(bench: Bench) -> None:
    config, thresholds = (bench.folder / name for name in (DEMO.name, "mi3xx_atom_demo_threshold.json"))
    config.write_text(DEMO.read_text())
    text = json.loads((DEMO.parent / thresholds.name).read_text())
    for cell in text.values():
        if isinstance(cell, dict) and "output_throughput" in cell:
            cell["output_throughput"]["value"] = 900_000_000
    thresholds.write_text(json.dumps(text))
    done = bench.execute(bench.plan("params.num_prompts=16", CELLS, config=config))
    assert done.code == 1, done.err
    assert bench.verdicts["verdict"] == "FAIL"
    failed = {
        verdict["metric"]
        for cell in bench.verdicts["cells"]
        for verdict in cell["verdicts"]
        if verdict["status"] == "FAIL"
    }
    assert failed == {"output_throughput"}


def test_two_nodes_run_one_engine(bench: Bench) -> None:
    plan = bench.plan("params.num_prompts=32", config=DISTRIBUTED, nodes=2)
    done = bench.execute(plan, "--cell", "w1_512_512-conc16", "--only", "cells", "--only", "functional")
    assert done.code == 0, done.err
    states = {cell["id"]: cell["state"] for cell in bench.verdicts["cells"]}
    assert states.pop("w1_512_512-conc16") == "valid"
    assert set(states.values()) == {"incomplete"}
    fabric = next(stage for stage in bench.verdicts["stages"] if stage["stage"] == "fabric")
    assert fabric["status"] == "ok", fabric["reason"]
    assert sorted(path.name for path in bench.run_folder.glob("logs/server-*.out.log")) == [
        "server-0.1.rank-0.out.log", "server-0.1.rank-1.out.log",
    ]  # fmt: skip


def test_a_user_who_needs_sudo_for_the_runtime(bench: Bench) -> None:
    done = bench.execute(bench.plan("params.num_prompts=16", CELLS, username="labuser"))
    assert done.code == 0, done.err
    assert "finding runtime ok: sudo -n docker" in done.err


# --- what goes wrong: a clear error, the next thing to try, the right exit code, a clean node

SERVER_LOG, CLIENT_LOG = "logs/server-0.1.rank-0.err.log", "logs/cell-0.1.err.log"


@pytest.mark.parametrize(
    ("setting", "code", "reason", "hint"),
    [
        (
            "container.image=localhost/none:1",
            3,
            "the image localhost/none:1 is absent",
            "docker pull localhost/none:1",
        ),
        (FAULT.format("DIE_LOADING", "oom"), 3, "status 1: torch.OutOfMemoryError: HIP out of memory", SERVER_LOG),
        (FAULT.format("CLIENT_EXIT", 3), 1, "the client ended with status 3", CLIENT_LOG),
        (FAULT.format("NO_ARTIFACT", 1), 1, "the client left no artifact results.json", "inside a mount"),
        (FAULT.format("WRONG_MODEL", "org/x"), 3, "serves org/x, the plan wants Qwen/Qwen3-0.6B", "server's log"),
        ("model.id=org/none", 3, "org/none is not in /models", "model.remote"),
    ],
)
def test_what_goes_wrong_is_said(bench: Bench, setting: str, code: int, reason: str, hint: str) -> None:
    done = bench.execute(bench.plan("params.num_prompts=16", CELLS, setting))
    assert done.code == code, done.err
    assert any(reason in each for each in bench.verdicts["reasons"]), bench.verdicts["reasons"]
    stages = [stage["hint"] for stage in bench.verdicts["stages"]]
    assert any(hint in each for each in (*stages, *(cell["hint"] for cell in bench.verdicts["cells"])))
    assert "Traceback (most recent call last)" not in done.out


def test_a_port_in_use_names_its_holder(bench: Bench, node: Node) -> None:
    node.exec(["sh", "-c", "setsid -f python3 -m http.server 8000 >/dev/null 2>&1; sleep 1"])
    try:
        done = bench.execute(bench.plan(CELLS))
    finally:
        node.exec(["pkill", "-f", "http.server 8000"])
    assert done.code == 3
    assert "port 8000 is in use by pid" in done.err
    assert "python3 -m http.server 8000" in done.err
    assert "launch" not in [stage["stage"] for stage in bench.verdicts["stages"]]


def test_an_unreachable_node_ends_all_and_is_named(bench: Bench, cluster: Cluster) -> None:
    second = cluster.nodes[1]
    plan = bench.plan(config=DISTRIBUTED, nodes=2)
    second.wire.down()
    try:
        done = bench.execute(plan)
    finally:
        second.wire.up()
    assert done.code == 3
    assert "finding unreachable failed" in done.err
    stage = bench.verdicts["stages"][0]
    assert (stage["stage"], stage["node"]) == ("preflight", second.address)
    assert stage["hint"]


# --- whoever goes away, nothing stays


@pytest.mark.parametrize(
    ("number", "phase"), [(signal.SIGINT, "ready"), (signal.SIGTERM, "bench"), (signal.SIGINT, "launch")]
)
def test_an_interrupted_run_is_torn_down(bench: Bench, number: signal.Signals, phase: str) -> None:
    plan = bench.plan("params.num_prompts=64", CELLS, FAULT.format("ESCAPE", 1))
    with bench.executing(plan) as (process, events):
        until(events, phase)
        process.send_signal(number)
        rest = list(events)
    assert process.returncode == 130
    assert [event["status"] for event in rest if event["name"] == "teardown"] == ["running", "ok"]
    assert bench.verdicts["verdict"] == "INTERRUPTED"


def test_a_launcher_that_is_killed_leaves_the_node_to_its_lease(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=64", CELLS, FAULT.format("ESCAPE", 1))
    with bench.executing(plan, "--lease", "5") as (process, events):
        until(events, "bench")
        assert len(node.containers("label=atomrun.run")) == 1
        process.kill()
    assert_clean(node, within=40.0)


def test_what_a_killed_launcher_left_can_be_cleaned_up_at_once(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=64", CELLS, FAULT.format("ESCAPE", 1))
    with bench.executing(plan) as (process, events):
        until(events, "bench")
        process.kill()
    run = bench.run_folder
    refused = bench.execute(plan)
    assert refused.code == 3
    assert f"in use by run {run.name}" in refused.err
    done = bench.tool("atomrun", "cleanup", str(run))
    assert done.code == 0, done.err
    assert_clean(node)


def test_a_persistent_container_stays_and_is_attached_to(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=16", CELLS, "container.lifetime=persistent", "container.name=mine")
    try:
        for _ in range(2):
            done = bench.execute(plan)
            assert done.code == 0, done.err
            (container,) = node.containers("name=mine")
            assert container["State"] == "running"
            assert "atomrun-" not in node.exec(["docker", "exec", "mine", "ls", "/tmp"]).stdout
        assert "launch ok: 0 containers started" in done.err
    finally:
        node.exec(["docker", "rm", "-f", "mine"])
