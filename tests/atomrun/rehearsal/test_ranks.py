"""Servers of several ranks: they wait for each other, and end together."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence

import pytest

from .running import Engine, free_port, launch

ENGINES = ("atom", "vllm", "sglang")
READY = {"atom": "Uvicorn running on", "vllm": "Application startup complete", "sglang": "ready to roll"}
MASTER = "127.0.0.2"


def rank(engine: str, number: int, port: int, size: int = 2, **env: str) -> Engine:
    """A rank of a server, its master on an address of its own."""
    argv: Sequence[str] = ()
    if engine == "atom":
        ranks = {"ATOM_DP_RANK": str(number), "ATOM_DP_SIZE": str(size)}
        env |= {**ranks, "ATOM_DP_RANK_LOCAL": "0", "ATOM_DP_MASTER_IP": MASTER, "ATOM_DP_MASTER_PORT": str(port)}
        argv = ("-dp", str(size))
    if engine == "vllm":
        argv = (
            "--nnodes",
            str(size),
            "--node-rank",
            str(number),
            "--master-addr",
            MASTER,
            "--master-port",
            str(port),
        )
        argv = (*argv, "--headless") if number else argv
    if engine == "sglang":
        argv = ("--nnodes", str(size), "--node-rank", str(number), "--dist-init-addr", f"{MASTER}:{port}")
    return launch(engine, argv, **env)


def finish(*ranks: Engine) -> list[int]:
    """Their exit codes; nothing is left running."""
    try:
        return [one.wait() for one in ranks]
    finally:
        for one in ranks:
            one.process.kill()
            one.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_head_serves_once_all_are_there_and_the_others_do_not(engine: str) -> None:
    port = free_port()
    worker = rank(engine, 1, port)
    worker.until("oad")
    head = rank(engine, 0, port)
    head.until(READY[engine])
    head.follow()
    assert head.get("/health")[0] == 200
    assert json.loads(head.post("/v1/completions", prompt="a", max_tokens=1)[1])["usage"]["completion_tokens"] == 1
    head.process.terminate()
    assert finish(head, worker) == [0, 1]
    assert any("rank 0 is gone" in line for line in worker.lines)
    assert not any("Uvicorn running" in line for line in worker.lines)
    assert not any("Traceback" in line for line in (*head.lines, *worker.lines))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_dies_takes_the_head_with_it(engine: str) -> None:
    port = free_port()
    faults = {"STANDIN_FAULT_RANK": "1", "STANDIN_FAULT_DIE_AFTER_S": "0.01", "STANDIN_FAULT_DIE_CODE": "9"}
    ranks = [rank(engine, number, port, **faults) for number in range(2)]
    assert finish(*ranks) == [1, 9]
    assert any("rank 1 is gone" in line for line in ranks[0].lines)


def test_a_worker_that_dies_while_loading_is_seen_by_all_three() -> None:
    port = free_port()
    faults = {"STANDIN_FAULT_RANK": "2", "STANDIN_FAULT_DIE_LOADING": "gpu_fault"}
    ranks = [rank("vllm", number, port, size=3, **faults) for number in range(3)]
    assert finish(*ranks) == [1, 1, -signal.SIGABRT]
    assert not any("Application startup complete" in line for line in ranks[0].lines)


def test_a_head_that_waits_in_vain_gives_up() -> None:
    head = rank("vllm", 0, free_port(), STANDIN_JOIN_TIMEOUT_S="0.05")
    assert finish(head) == [1]
    assert any("Timed out after 0.05 seconds waiting for clients" in line for line in head.lines)


def test_a_head_that_waits_ends_when_asked() -> None:
    head = rank("sglang", 0, free_port())
    head.until("Init torch distributed begin.")
    head.process.terminate()
    assert finish(head) == [0]


def test_ranks_that_disagree_do_not_start() -> None:
    port = free_port()
    head = rank("vllm", 0, port, size=2)
    stranger = rank("vllm", 1, port, size=3, STANDIN_JOIN_TIMEOUT_S="1")
    assert finish(head, stranger) == [1, 1]
    assert any("rank 1 expects 3 ranks, rank 0 2" in line for line in head.lines)


def test_a_master_port_in_use_is_said() -> None:
    port = free_port()
    first = rank("vllm", 0, port)
    first.until("Initializing a V1 LLM engine")
    worker = rank("vllm", 1, port)
    first.until("Starting to load model")
    second = rank("vllm", 0, port)
    assert finish(second) == [1]
    assert any("The server socket has failed to listen." in line for line in second.lines)
    first.process.terminate()
    assert finish(first, worker) == [0, 1]
