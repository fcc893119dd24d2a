"""Engines over two nodes, the deaths of their ranks, and the ways a container comes to be: on real nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from atomcfg.planio import load_plan

from .bench import DEMO, DISTRIBUTED, EXAMPLES, FAULT, Bench, until
from .checks import assert_clean
from .cluster import Cluster
from .node import Node, NodeProcess
from .processes import wait_until

pytestmark = pytest.mark.usefixtures("tidy")

SGLANG = EXAMPLES / "mi3xx_atom_sglang_deepseek-r1_fp8_distributed.json"
_NO_FABRIC_FILES = (
    'container.runtime.args.volumes=["/home/{user-id}:/home/{user-id}","/models:/models:ro"]',
    'container.runtime.args.devices=["/dev/kfd"]',
)
VLLM_PP2 = (DISTRIBUTED, ("params.num_prompts=8", 'sweep.runs=[{"combo":"acc_warmup","concurrency":4}]'))
SGLANG_PP2 = (
    SGLANG,
    ("benchmark_params.num_prompts=8", 'sweeps={"ISL=128,OSL=32,TP=8,PP=2,CONC=4":{}}', *_NO_FABRIC_FILES),
)
ATOM_DP2 = (
    DEMO,
    (
        "params.num_prompts=8",
        "params.nnodes=2",
        "enforce_thresholds=false",
        'sweep.runs=[{"combo":"chat","concurrency":4}]',
    ),
)
SERVERS = ("vllm.entrypoints.cli.main", "sglang.launch_server", "atom.entrypoints.openai_server")
SHORT = ("--only", "cells", "--only", "functional")
ONE = 'sweep.runs=[{"combo":"chat","concurrency":1}]'
KNOBS = "roles.server.env={}"


def knobs(**values: object) -> str:
    """The stand-in's settings, as an edit of the config."""
    return KNOBS.format(json.dumps({f"STANDIN_{name}": str(value) for name, value in values.items()}))


def stages(bench: Bench, name: str) -> list[Mapping[str, Any]]:
    return [stage for stage in bench.verdicts["stages"] if stage["stage"] == name]


def engines_of(node: Node) -> list[NodeProcess]:
    """The processes on a node that run an engine."""
    started = [each for each in node.processes() if each.argv[1:2] == ("-m",) and each.argv[2] in SERVERS]
    return [each for each in started if each.argv[3] != "bench"]


def server_of(node: Node) -> NodeProcess:
    """The engine's own process on a node."""
    return min(engines_of(node), key=lambda each: each.pid)


# --- two nodes


@pytest.mark.parametrize(
    ("config", "sets", "ranks"),
    [
        pytest.param(*VLLM_PP2, ("--node-rank", "--headless"), id="vllm_atom PP=2"),
        pytest.param(*SGLANG_PP2, ("--node-rank", "--pp-size"), id="sglang PP=2"),
        pytest.param(*ATOM_DP2, ("ATOM_DP_RANK", "ATOM_DP_MASTER_IP"), id="atom DP=2"),
    ],
)
def test_an_engine_over_two_nodes(
    bench: Bench, cluster: Cluster, config: Path, sets: tuple[str, ...], ranks: tuple[str, ...]
) -> None:
    plan = bench.plan(*sets, config=config, nodes=2)
    with bench.executing(plan, *SHORT) as (process, events):
        until(events, "bench")
        engines = [server_of(node) for node in cluster.nodes]
        told = [{*each.argv, *each.environment} for each in engines]
        rest = list(events)
    assert process.returncode == 0, rest
    assert [cell["state"] for cell in bench.verdicts["cells"]] == ["valid"]
    assert set(ranks) <= told[0] | told[1]
    assert sorted(path.name for path in bench.run_folder.glob("logs/server-0.1.rank-*.out.log")) == [
        "server-0.1.rank-0.out.log", "server-0.1.rank-1.out.log",
    ]  # fmt: skip


# The other ranks stay for this long after a death, so it is our watch that ends the session, not the engine.
_GRACE_S = 20
_SOON_S = 5.0  # a second is meant; this machine is busy


@pytest.mark.parametrize(("rank", "phase"), [(1, "ready"), (1, "bench"), (0, "bench")])
def test_the_first_death_ends_the_session_and_names_the_node(
    bench: Bench, cluster: Cluster, rank: int, phase: str
) -> None:
    config, sets = VLLM_PP2
    slow = knobs(PEER_GRACE_S=_GRACE_S, LOAD_S=30 if phase == "ready" else 1, SPEED=0.01)
    plan = bench.plan(*sets, slow, config=config, nodes=2)
    victim = cluster.nodes[rank]
    with bench.executing(plan, "--only", "cells") as (process, events):
        began = until(events, phase)["t"]
        wait_until(lambda: bool(engines_of(victim)), "the engine")
        victim.exec(["kill", "-KILL", str(server_of(victim).pid)])
        ended = next(event for event in events if event["name"] == phase and event["status"] == "failed")
        rest = list(events)
    assert process.returncode == 3, rest
    assert f"the server of rank {rank} on {victim.address} ended with signal 9" in ended["text"]
    assert ended["t"] - began < _SOON_S
    assert [event["status"] for event in rest if event["name"] == "teardown"] == ["running", "ok"]
    for node in cluster.nodes:
        assert_clean(node)


@contextmanager
def settings(node: Node, **values: object) -> Iterator[None]:
    """What the stand-ins of the node's tools read."""
    file = node.path("/etc/standin.env")
    file.write_text("".join(f"STANDIN_{name}={value}\n" for name, value in values.items()))
    try:
        yield
    finally:
        file.unlink()


def test_nodes_with_other_devices_are_refused(bench: Bench, cluster: Cluster) -> None:
    config, sets = VLLM_PP2
    first, second = cluster.nodes
    plan = bench.plan(*sets, config=config, nodes=2)
    with settings(first, HCAS="mlx5_0,mlx5_1"), settings(second, HCAS="mlx5_0,mlx5_2"):
        done = bench.execute(plan)
    assert done.code == 3, done.err
    (stage,) = stages(bench, "fabric")
    assert f"{first.address} has mlx5_0, mlx5_1; {second.address} has mlx5_0, mlx5_2" in stage["reason"]
    assert "ib_hca_devices" in stage["hint"]
    assert stages(bench, "start") == []


@contextmanager
def renamed(node: Node, name: str) -> Iterator[None]:
    """The node's interface under another name."""

    def rename(old: str, new: str) -> None:
        script = f"ip link set {old} down && ip link set {old} name {new} && ip link set {new} up"
        node.exec(["sh", "-c", script])

    rename("eth0", name)
    try:
        yield
    finally:
        rename(name, "eth0")


def test_each_node_has_its_own_interface(bench: Bench, cluster: Cluster) -> None:
    config, sets = VLLM_PP2
    plan = bench.plan(*sets, config=config, nodes=2)
    with renamed(cluster.nodes[1], "ens7"), bench.executing(plan, "--only", "cells") as (process, events):
        until(events, "bench")
        used = [server_of(node).environment for node in cluster.nodes]
        rest = list(events)
    assert process.returncode == 0, rest
    assert [env["NCCL_SOCKET_IFNAME"] for env in used] == ["eth0", "ens7"]
    assert {env["NCCL_IB_HCA"] for env in used} == {"=" + ",".join(f"ionic_{n}" for n in (3, 0, 2, 1, 4, 5, 6, 7))}


# --- containers


def test_podman_as_well_as_docker(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=8", ONE, knobs(SPEED=500), "container.runtime.name=podman")
    with bench.executing(plan, *SHORT) as (process, events):
        until(events, "bench")
        assert len(node.containers("label=atomrun.run")) == 1
        rest = list(events)
    assert process.returncode == 0, rest
    assert "ok" in [event["status"] for event in rest if event["name"] == "teardown"]


PERSISTENT = ("container.lifetime=persistent", "container.name=mine")


@pytest.fixture
def forgotten(cluster: Cluster) -> Iterator[None]:
    """What is called `mine` goes when the test has ended."""
    yield
    for node in cluster.nodes:
        node.exec(["podman", "rm", "--force", "--ignore", "--time", "0", "mine"])


@pytest.mark.usefixtures("forgotten")
def test_a_persistent_container_on_some_nodes_only_is_refused(bench: Bench, cluster: Cluster) -> None:
    config, sets = VLLM_PP2
    first, second = cluster.nodes
    first.exec(["docker", "run", "-d", "--name", "mine", "--network=host", cluster.image, "sleep", "60"])
    done = bench.execute(bench.plan(*sets, *PERSISTENT, config=config, nodes=2))
    assert done.code == 3, done.err
    (stage,) = stages(bench, "launch")
    assert stage["reason"] == f"persistent: the container runs on {first.address} only"
    assert first.containers("name=mine")[0]["State"] == "running", "left as it was"
    assert second.containers("name=mine") == []


@pytest.mark.usefixtures("forgotten")
def test_no_launch_starts_nothing(bench: Bench, node: Node) -> None:
    done = bench.execute(bench.plan(ONE, "container.lifetime=no_launch", "container.name=mine"))
    assert done.code == 3, done.err
    (stage,) = stages(bench, "launch")
    assert stage["reason"] == f"no_launch: the container does not run on {node.address}"
    assert node.containers("name=mine") == []


# --- sessions


def test_one_server_for_three_cells(bench: Bench) -> None:
    three = ",".join(f'{{"combo":"chat","concurrency":{n}}}' for n in (1, 8, 32))
    plan = bench.plan("params.num_prompts=8", f"sweep.runs=[{three}]", knobs(SPEED=500))
    done = bench.execute(plan, *SHORT)
    assert done.code in {0, 1}, done.err  # how fast it is is not the question
    assert [cell["state"] for cell in bench.verdicts["cells"]] == ["valid"] * 3
    assert len(stages(bench, "start")) == 1
    assert len(stages(bench, "bench")) == 3
    assert len({cell.seed for cell in load_plan(plan.read_text()).cells}) == 3, "no cell warms another's cache"


@pytest.mark.parametrize(("fault", "phase"), [("HANG_LOADING", "ready"), ("HANG_COMPLETIONS", "ready")])
def test_a_server_that_hangs_in_silence_is_ended(bench: Bench, fault: str, phase: str) -> None:
    done = bench.execute(bench.plan(ONE, FAULT.format(fault, 1)), "--idle", "4")
    assert done.code == 3, done.err
    (stage,) = stages(bench, phase)
    assert "wrote a line for" in stage["reason"]
    assert "--idle" in stage["hint"]


def test_the_gpu_poll_is_gone_after_the_run(bench: Bench, node: Node) -> None:
    plan = bench.plan("params.num_prompts=8", ONE, "platform.gpu_metrics_poll=true", knobs(SPEED=500))
    with bench.executing(plan) as (process, events):
        until(events, "bench")
        polls = [each for each in node.processes() if "gpu_poll" in each.argv]
        assert polls, "a poll runs beside the bench"
        rest = list(events)
    assert process.returncode in {0, 1}, rest
    (block,) = [each for each in bench.verdicts["blocks"] if each["block"] == "gpu_metrics"]
    assert block["status"] == "ok", block
    assert [each.argv for each in node.processes() if "gpu_poll" in each.argv] == []
    assert_clean(node)
