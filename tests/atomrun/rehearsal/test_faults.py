"""What can be made to go wrong does go wrong, in the engines' own words."""

from __future__ import annotations

import json
import os
import signal
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from .running import Engine, bench, client, launch, start

ENGINES = ("atom", "vllm", "sglang")


@pytest.mark.parametrize(
    ("engine", "way", "code", "last"),
    [
        ("atom", "oom", 1, "RuntimeError: Failed to start all EngineCore processes"),
        ("atom", "weights", 1, "RuntimeError: Failed to start all EngineCore processes"),
        ("atom", "gpu_fault", -signal.SIGABRT, "Memory access fault by GPU node-3"),
        ("vllm", "oom", 1, "RuntimeError: Engine core initialization failed. See root cause above."),
        ("vllm", "weights", 1, "RuntimeError: Engine core initialization failed. See root cause above."),
        ("vllm", "gpu_fault", -signal.SIGABRT, "Memory access fault by GPU node-3"),
        ("sglang", "oom", -signal.SIGKILL, "Received sigquit from a child process."),
        ("sglang", "weights", -signal.SIGKILL, "Received sigquit from a child process."),
        ("sglang", "gpu_fault", -signal.SIGABRT, "Fatal Python error: Aborted"),
    ],
)
def test_a_server_dies_while_loading(engine: str, way: str, code: int, last: str) -> None:
    dying = launch(engine, STANDIN_FAULT_DIE_LOADING=way)
    assert dying.wait() == code
    assert dying.lines[-1].startswith(last)
    assert any("HIP out of memory" in line or "Not enough memory" in line for line in dying.lines) == (way == "oom")


def test_an_unknown_way_to_die_is_an_error() -> None:
    dying = launch("atom", STANDIN_FAULT_DIE_LOADING="boredom")
    assert dying.wait() == 2
    assert dying.lines[-1].endswith("one of oom, weights, gpu_fault expected")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_dies_after_a_while(engine: str) -> None:
    dying = launch(engine, STANDIN_FAULT_DIE_AFTER_S="0.01", STANDIN_FAULT_DIE_CODE="7")
    assert dying.wait() == 7
    assert any("asked to die now" in line for line in dying.lines)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_server_that_never_gets_ready_ends_when_asked(engine: str) -> None:
    hanging = launch(engine, STANDIN_FAULT_HANG_LOADING="1")
    hanging.until("oad")
    assert hanging.end() == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_health_is_fine_while_completions_hang(engine: str) -> None:
    with start(engine, STANDIN_FAULT_HANG_COMPLETIONS="1") as hanging:
        assert hanging.get("/health")[0] == 200
        with pytest.raises(TimeoutError):
            hanging.post("/v1/completions", prompt="a", max_tokens=1, patience_s=0.3)


def test_another_model_is_served() -> None:
    with start("atom", STANDIN_FAULT_WRONG_MODEL="other") as server:
        assert json.loads(server.get("/v1/models")[1])["data"][0]["id"] == "other"
        assert server.post("/v1/completions", prompt="a")[0] == 400


@pytest.mark.parametrize(("engine", "counted"), [("atom", 0), ("vllm", 12 * 24)])
def test_no_usage_frame(engine: str, counted: int, tmp_path: Path) -> None:
    with start(engine, STANDIN_FAULT_NO_USAGE="1") as server:
        frames = server.events("/v1/completions", prompt="a", max_tokens=2, stream_options={"include_usage": True})
        result = bench(engine, server.port, tmp_path)
    assert all(frame.get("choices") for frame in frames[:-1])
    assert (result["completed"], result["total_output_tokens"]) == (12, counted)


def test_every_third_request_fails(tmp_path: Path) -> None:
    with start("atom", STANDIN_FAULT_FAIL_EVERY="3") as server:
        said = client("atom", server.port, "--num-warmups", "0", "--result-dir", str(tmp_path))
    assert "FAILED requests:                         4" in said.stdout
    assert "    4        Internal Server Error" in said.stdout


def test_a_slow_tail(tmp_path: Path) -> None:
    with start("atom", STANDIN_FAULT_SLOW_EVERY="12", STANDIN_FAULT_SLOW_S="0.5") as server:
        result = bench("atom", server.port, tmp_path, "--num-warmups", "0", "--metric-percentiles", "99,100")
    assert result["p100_ttft_ms"] > 500.0


def test_noise_and_a_token_in_the_log() -> None:
    with start("atom", STANDIN_FAULT_NOISE="1", STANDIN_FAULT_TALKATIVE="1", HF_TOKEN="hf_canary") as server:
        assert "HF_TOKEN=hf_canary" in server.lines
        assert any(line.startswith("NCCL WARN") for line in server.lines)


@pytest.mark.parametrize(("engine", "code"), [("atom", 3), ("vllm", 1), ("sglang", 3)])
def test_a_port_that_is_taken(engine: str, code: int) -> None:
    refused = launch(engine, STANDIN_FAULT_PORT_TAKEN="1")
    assert refused.wait() == code
    assert any("ddress already in use" in line for line in refused.lines)


def test_a_child_escapes() -> None:
    with start("atom", STANDIN_FAULT_ESCAPE="1") as server:
        (line,) = (line for line in server.lines if line.startswith("escaped child process "))
        escaped = int(line.rpartition(" ")[2])
        try:
            assert os.getsid(escaped) == os.getpgid(escaped) == escaped != os.getsid(server.process.pid)
        finally:
            os.kill(escaped, signal.SIGKILL)


def test_term_is_ignored() -> None:
    with start("atom", STANDIN_FAULT_IGNORE_TERM="1") as server:
        server.process.terminate()
        assert server.get("/health")[0] == 200
        server.process.kill()
        assert server.wait() == -signal.SIGKILL


def run(atom: Engine, tmp_path: Path, **faults: str) -> tuple[int, Path]:
    env: Any = {f"STANDIN_FAULT_{name}": value for name, value in faults.items()}
    file = tmp_path / "r.json"
    return client(
        "atom", atom.port, "--result-dir", str(tmp_path), "--result-filename", file.name, **env
    ).returncode, file


def test_a_client_fails_after_a_good_artifact(atom: Engine, tmp_path: Path) -> None:
    code, file = run(atom, tmp_path, CLIENT_EXIT="3")
    assert (code, json.loads(file.read_text())["completed"]) == (3, 12)


@pytest.mark.parametrize(("fault", "value", "code"), [("CLIENT_DIES", "3", 3), ("NO_ARTIFACT", "1", 0)])
def test_a_client_leaves_nothing(atom: Engine, tmp_path: Path, fault: str, value: str, code: int) -> None:
    assert run(atom, tmp_path, **{fault: value}) == (code, tmp_path / "r.json")
    assert not (tmp_path / "r.json").exists()


def test_an_old_artifact(atom: Engine, tmp_path: Path) -> None:
    code, file = run(atom, tmp_path, STALE_ARTIFACT="1")
    written = datetime.strptime(json.loads(file.read_text())["date"], "%Y%m%d-%H%M%S")
    assert code == 0
    assert datetime.now() - written > timedelta(hours=20)
    assert datetime.now() - datetime.fromtimestamp(file.stat().st_mtime) > timedelta(hours=20)


def test_a_cut_artifact(atom: Engine, tmp_path: Path) -> None:
    code, file = run(atom, tmp_path, TRUNCATE="1")
    assert code == 0
    with pytest.raises(json.JSONDecodeError):
        json.loads(file.read_text())


def test_a_number_that_is_none(atom: Engine, tmp_path: Path) -> None:
    code, file = run(atom, tmp_path, NAN="mean_ttft_ms")
    assert code == 0
    assert '"mean_ttft_ms": NaN' in file.read_text()
