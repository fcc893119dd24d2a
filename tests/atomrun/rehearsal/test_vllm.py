"""The stand-in for vLLM against what vLLM prints, answers and writes."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from vllm.entrypoints.cli.main import main

from .running import DATA, MODEL, Engine, bench, client, free_port, labels, launch, run, start, without_server_mark

REAL = DATA.parent / "clients/vllm"
SPECULATION = [
    "spec_decode_acceptance_rate",
    "spec_decode_acceptance_length",
    "spec_decode_num_drafts",
    "spec_decode_draft_tokens",
    "spec_decode_accepted_tokens",
    "spec_decode_per_position_acceptance_rates",
]


def keys(value: Any) -> Any:
    """A JSON value with the kind of each scalar in its place; null stands for itself."""
    if isinstance(value, dict):
        return {key: keys(item) for key, item in value.items()}
    return [keys(item) for item in value] if isinstance(value, list) else value and type(value)


def test_the_log_comes_in_the_real_order(vllm: Engine) -> None:
    assert vllm.lines[0] == "stand-in engine, no model is loaded"
    expected = [
        "vLLM server version",
        "non-default args",
        "Initializing a V1 LLM engine",
        "Starting to load model",
        "Starting vLLM server on",
        "Started server process",
        "Waiting for application startup.",
        "Application startup complete.",
    ]
    found = [next((text for text in expected if text in line), "") for line in vllm.lines]
    assert [text for text in found if text][:8] == expected
    assert not [line for line in vllm.lines if "Uvicorn running" in line]


def test_pages(vllm: Engine) -> None:
    assert vllm.get("/health") == (200, "")
    models = json.loads(vllm.get("/v1/models")[1])
    assert keys(models) == keys(json.loads((DATA / "vllm_v1_models.json").read_text()))
    assert (models["data"][0]["id"], models["data"][0]["max_model_len"]) == (MODEL, 4096)
    assert json.loads(vllm.get("/version")[1]) == {"version": "0.33.0"}


def test_metrics_count_what_was_served(vllm: Engine) -> None:
    def count(name: str) -> float:
        lines = vllm.get("/metrics")[1].splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"vllm:{name}{{"))

    before = {name: count(name) for name in ("prompt_tokens_total", "generation_tokens_total")}
    requests = count("time_to_first_token_seconds_count"), count("request_success_total")
    vllm.post("/v1/completions", prompt="one two three", max_tokens=40, ignore_eos=True)
    assert count("prompt_tokens_total") == before["prompt_tokens_total"] + 3
    assert count("generation_tokens_total") == before["generation_tokens_total"] + 40
    assert (count("time_to_first_token_seconds_count"), count("request_success_total")) == (
        requests[0] + 1,
        requests[1] + 1,
    )
    assert count("num_requests_running") == 0
    assert count("spec_decode_num_draft_tokens_total") > count("spec_decode_num_accepted_tokens_total") > 0


def test_a_stream_with_and_without_counts(vllm: Engine) -> None:
    sample = (DATA / "vllm_completions_stream_include_usage.sse").read_text().strip().split("\n\n")
    real = [json.loads(frame.removeprefix("data: ")) for frame in sample[:-1]]
    body = {"prompt": "one two", "max_tokens": 2, "ignore_eos": True}
    frames = vllm.events("/v1/completions", **body, stream_options={"include_usage": True})
    assert [keys(frame) for frame in frames[:-1]] == [keys(frame) for frame in real]
    assert frames[-2]["usage"] == {"prompt_tokens": 2, "total_tokens": 4, "completion_tokens": 2}
    plain = vllm.events("/v1/completions", **body)
    assert [frame["choices"][0]["finish_reason"] for frame in plain[:-1]] == [None, "length"]
    assert "usage" not in plain[0]


def test_chat(vllm: Engine) -> None:
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "max_tokens": 2}
    frames = vllm.events("/v1/chat/completions", **body, ignore_eos=True)
    assert frames[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    whole = json.loads(vllm.post("/v1/chat/completions", **body)[1])
    assert len(whole["choices"][0]["message"]["content"].split()) == 2


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"model": "x", "prompt": "a"}, 404, "NotFoundError"),
        ({"prompt": "a", "max_tokens": 5000}, 400, "BadRequestError"),
    ],
)
def test_refusals(vllm: Engine, body: dict[str, Any], status: int, kind: str) -> None:
    answered, text = vllm.post("/v1/completions", **body)
    assert (answered, json.loads(text)["error"]["type"]) == (status, kind)


@pytest.mark.parametrize(
    ("flags", "sample"),
    [
        ([], "v0.33.0"),
        (["--percentile-metrics", "ttft,tpot,itl,e2el", "--goodput", "ttft:9000"], "v0.33.0_goodput"),
        (
            [
                "--percentile-metrics",
                "ttft,tpot,itl,e2el,client_queue_time",
                "--metric-percentiles",
                "50,90,95,99,99.9",
            ],
            "v0.33.0_all_percentiles",
        ),
        (["--metadata", "tp=8", "note=a=b", "--request-rate", "400"], "v0.33.0_rate20_meta"),
    ],
)
def test_the_artifact_has_the_real_keys(vllm: Engine, tmp_path: Path, flags: list[str], sample: str) -> None:
    result = bench("vllm", vllm.port, tmp_path / "made", *flags)
    expected = json.loads((REAL / f"{sample}.json").read_text())
    assert [key for key in without_server_mark(result) if key not in SPECULATION] == list(expected)
    assert [key for key in result if key in SPECULATION] == SPECULATION
    assert (result["completed"], result["failed"]) == (12, 0)
    assert (result["total_input_tokens"], result["total_output_tokens"]) == (12 * 64, 12 * 24)
    assert 0.0 < result["spec_decode_acceptance_rate"] <= 100.0
    assert result.get("note", "a=b") == "a=b"


def test_detailed_results(vllm: Engine, tmp_path: Path) -> None:
    result = bench("vllm", vllm.port, tmp_path, "--save-detailed")
    expected = json.loads((DATA / "vllm_detailed.json").read_text())
    assert [key for key in without_server_mark(result) if key not in SPECULATION] == list(expected)
    assert [len(times) for times in result["itls"]] == [23] * 12


def test_appended_results_are_lines(vllm: Engine, tmp_path: Path) -> None:
    where = ["--result-dir", str(tmp_path), "--result-filename", "r.json", "--append-result"]
    for _ in range(2):
        assert client("vllm", vllm.port, *where).returncode == 0
    assert [json.loads(line)["completed"] for line in (tmp_path / "r.json").read_text().splitlines()] == [12, 12]


def test_the_table_has_the_real_lines(tmp_path: Path) -> None:
    flags = ["--percentile-metrics", "ttft,tpot,itl,e2el", "--goodput", "ttft:9000", "e2el:9000"]
    with start("vllm") as plain:
        said = client("vllm", plain.port, "--result-dir", str(tmp_path), *flags, "--num-warmups", "2")
    assert labels(said.stdout) == labels((DATA / "vllm_goodput.stdout.txt").read_text())
    assert "Warming up with 2 requests..." in said.stdout


def test_speculation_is_in_the_table(vllm: Engine, tmp_path: Path) -> None:
    said = client("vllm", vllm.port, "--result-dir", str(tmp_path))
    assert "---------------Speculative Decoding---------------" in said.stdout
    assert "  Position 1:" in said.stdout


@pytest.mark.parametrize(
    ("ratio", "shortest", "longest"),
    [("0.5", 32, 96), ("0.0", 64, 64), ('{"input": 0.25, "output": 0.0}', 48, 80)],
)
def test_lengths_are_drawn_around_the_full_length(
    vllm: Engine, tmp_path: Path, ratio: str, shortest: int, longest: int
) -> None:
    result = bench("vllm", vllm.port, tmp_path, "--random-range-ratio", ratio, "--save-detailed")
    assert all(shortest <= length <= longest for length in result["input_lens"])
    assert (len(set(result["input_lens"])) == 1) == (shortest == longest)


def test_a_ratio_of_one_is_refused(vllm: Engine) -> None:
    done = client("vllm", vllm.port, "--random-range-ratio", "1.0")
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: range_ratio must be in [0, 1).\n")


def test_the_model_is_asked_for_where_it_is_not_given(vllm: Engine, tmp_path: Path) -> None:
    argv = ["bench", "serve", "--port", str(vllm.port), "--num-prompts", "1", "--save-result", "--disable-tqdm"]
    done = run(main, [*argv, "--result-dir", str(tmp_path)])
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_text())["model_id"] == MODEL


def test_a_ready_check_fails_without_a_file(tmp_path: Path) -> None:
    done = client("vllm", free_port(), "--ready-check-timeout-sec", "1", "--result-dir", str(tmp_path))
    assert done.returncode == 1
    assert "ValueError: Initial test run failed" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_failures_are_counted_and_shown(tmp_path: Path) -> None:
    with start("vllm", STANDIN_FAULT_FAIL_EVERY="4") as failing:
        where = ["--result-dir", str(tmp_path), "--result-filename", "r.json"]
        said = client("vllm", failing.port, *where)
    assert said.returncode == 0
    assert "Failed requests during benchmark run detected (capping to 10):" in said.stdout
    assert "Error 2: Internal Server Error" in said.stdout
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["completed"], result["failed"]) == (9, 3)


def test_the_port_is_taken_early_and_answers_late() -> None:
    loading = launch("vllm", STANDIN_FAULT_HANG_LOADING="1")
    loading.until("Starting to load model")
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", loading.port))
    assert loading.end() == 0


def test_a_port_in_use_ends_it_before_loading(vllm: Engine) -> None:
    second = launch("vllm", port=vllm.port)
    assert second.wait() == 1
    assert second.lines[-1].endswith("OSError: [Errno 98] Address already in use")
    assert not [line for line in second.lines if "Starting to load" in line]
