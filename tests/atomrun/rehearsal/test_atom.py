"""The stand-in for ATOM against what ATOM prints, answers and writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from atom.benchmarks.benchmark_serving import main

from .running import (
    DATA,
    MODEL,
    Engine,
    bench,
    client,
    free_port,
    labels,
    launch,
    run,
    start,
    without_server_mark,
)

REAL = DATA.parent / "clients/atom"


def real(name: str) -> Any:
    return json.loads((DATA / name).read_text())


def shape(value: Any) -> Any:
    """A JSON value with its types in place of its scalars."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def told(line: str) -> str:
    """A log line without its time and its numbers."""
    return re.sub(r"[\d.]+|\{.*\}|\[[\d, ]+\]|for model \S+|from \S+|with model \S+|uvloop|auto", "", line).strip()


def test_the_log_has_the_real_lines_in_order(atom: Engine) -> None:
    expected = [told(line) for line in (DATA / "atom_ready.log").read_text().splitlines()]
    assert atom.lines[0] == "stand-in engine, no model is loaded"
    assert [told(line) for line in atom.lines[1 : len(expected) + 1]] == expected


def test_pages(atom: Engine) -> None:
    assert atom.get("/health") == (200, '{"status":"ok"}')
    assert shape(json.loads(atom.get("/v1/models")[1])) == shape(real("atom_v1_models.json"))
    assert (
        shape(json.loads(atom.get("/debug/mtp_stats")[1])).keys() == shape(real("atom_debug_mtp_stats.json")).keys()
    )
    assert atom.get("/nowhere")[0] == 404


def test_metrics_have_the_real_names_and_kinds(atom: Engine) -> None:
    def described(text: str) -> list[str]:
        return re.findall(r"^# TYPE .*$|^[\w:]+(?:\{[^}]*\})?", text, re.MULTILINE)

    status, text = atom.get("/metrics")
    assert status == 200
    assert described(text) == described((DATA / "atom_metrics.txt").read_text())


def test_a_stream_has_the_real_frames(atom: Engine) -> None:
    frames = atom.events("/v1/completions", prompt="one two three", max_tokens=300, ignore_eos=True)
    sample = (DATA / "atom_completions_stream_length.sse").read_text().strip().split("\n\n")
    expected = [json.loads(frame.removeprefix("data: ")) for frame in sample[:-1]]
    assert frames[-1] == "[DONE]"
    assert [shape(frame) for frame in frames[-4:-1]] == [shape(frame) for frame in expected[-3:]]
    assert [frame["choices"][0]["finish_reason"] for frame in frames[-4:-2]] == ["length", "stop"]
    assert frames[-2]["usage"] == {"prompt_tokens": 3, "completion_tokens": 300, "total_tokens": 303}
    assert len("".join(frame["choices"][0]["text"] for frame in frames[:-2]).split()) == 300


def test_whole_answers(atom: Engine) -> None:
    status, text = atom.post("/v1/completions", prompt="one two", max_tokens=4)
    assert (status, shape(json.loads(text))) == (200, shape(real("atom_completions_nonstream.json")))
    status, text = atom.post("/v1/chat/completions", messages=[{"role": "user", "content": "hi"}], max_tokens=4)
    assert json.loads(text)["choices"][0]["message"]["role"] == "assistant"
    assert json.loads(text)["object"] == "chat.completion"


def test_a_chat_stream(atom: Engine) -> None:
    frames = atom.events("/v1/chat/completions", messages=[{"role": "user", "content": "hi"}], max_tokens=2)
    assert frames[0]["choices"][0]["delta"] == {}
    assert {frame["object"] for frame in frames[:-1]} == {"chat.completion.chunk"}
    assert frames[-2]["usage"]["completion_tokens"] == 2


def test_without_ignore_eos_an_answer_may_end_early(atom: Engine) -> None:
    body = json.loads(atom.post("/v1/completions", prompt="one two", max_tokens=250)[1])
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"]["completion_tokens"] < 250


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"model": "x", "prompt": "a"}, 400, f"Requested model 'x' does not match server model '{MODEL}'"),
        ({"prompt": "a", "max_tokens": 10**6}, 400, "This model's maximum context length is 163840 tokens."),
        ({"prompt": ["a"]}, 422, "Input should be a text"),
        ({"prompt": "a", "max_tokens": 0}, 422, "Input should be a positive integer"),
    ],
)
def test_refusals(atom: Engine, body: dict[str, Any], status: int, said: str) -> None:
    answered, text = atom.post("/v1/completions", **body)
    assert answered == status
    assert said in text


def test_a_body_that_is_no_json_is_refused(atom: Engine) -> None:
    assert atom.post("/v1/chat/completions", messages=[])[0] == 422
    assert atom.post("/v1/completions")[0] == 422


@pytest.mark.parametrize(
    ("flags", "sample"),
    [
        ([], "default"),
        (["--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,95,99"], "all_metrics"),
        (["--percentile-metrics", "ttft,tpot,itl,e2el", "--goodput", "ttft:9000", "tpot:9000"], "goodput"),
    ],
)
def test_the_artifact_has_the_real_keys(atom: Engine, tmp_path: Path, flags: list[str], sample: str) -> None:
    result = bench("atom", atom.port, tmp_path, *flags)
    expected = json.loads((REAL / f"{sample}.json").read_text())
    assert without_server_mark(result) == list(expected)
    assert {type(value) for key, value in result.items() if key.endswith("_ms")} == {float}
    assert (result["completed"], result["num_prompts"], result["total_output_tokens"]) == (12, 12, 12 * 24)
    assert result["total_input_tokens"] == 12 * 64
    assert 0.0 < result["acceptance_rate"] < 1.0 < result["accept_length"]
    assert "failed" not in result


def test_metadata_and_odd_percentiles(atom: Engine, tmp_path: Path) -> None:
    flags = ["--metadata", "tp=8", "isl=64", "note=a=b", "--metric-percentiles", "50,99,99.9"]
    result = bench("atom", atom.port, tmp_path, *flags, "--percentile-metrics", "ttft,tpot,itl,e2el")
    assert without_server_mark(result) == list(json.loads((REAL / "mtp.json").read_text()))
    assert (result["tp"], result["note"]) == ("8", "a")


@pytest.mark.parametrize(
    ("flags", "sample"),
    [
        (["--percentile-metrics", "ttft,tpot,itl,e2el", "--goodput", "ttft:9000"], "atom_goodput"),
        (["--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,99,99.9"], "atom_mtp"),
    ],
)
def test_the_table_has_the_real_lines(atom: Engine, flags: list[str], sample: str, tmp_path: Path) -> None:
    said = client("atom", atom.port, "--result-dir", str(tmp_path), *flags)
    expected = labels((DATA / f"{sample}.stdout.txt").read_text())
    found = [line for line in labels(said.stdout) if line in expected or "Accept" not in line]
    assert found == expected
    assert said.stdout.startswith("Namespace(backend='vllm', ")
    assert said.stderr.startswith("stand-in benchmark client")


def test_detailed_results_have_a_time_for_each_token(atom: Engine, tmp_path: Path) -> None:
    result = bench("atom", atom.port, tmp_path, "--save-detailed")
    assert [len(times) for times in result["itls"]] == [23] * 12
    assert (result["input_lens"], result["output_lens"]) == ([64] * 12, [24] * 12)
    assert result["errors"] == [""] * 12


def test_lengths_are_drawn_between_ratio_and_full_length(atom: Engine, tmp_path: Path) -> None:
    flags = ["--random-range-ratio", "0.5", "--random-prefix-len", "8", "--save-detailed", "--use-chat-template"]
    first, again = (bench("atom", atom.port, tmp_path, *flags, "--seed", "3") for _ in range(2))
    other = bench("atom", atom.port, tmp_path, *flags, "--seed", "4")
    assert first["input_lens"] == again["input_lens"] != other["input_lens"]
    assert all(8 + 32 <= length <= 8 + 64 + 2 for length in first["input_lens"])
    assert all(12 <= length <= 24 for length in first["output_lens"])


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (["--metric-percentiles", "50,90"], "p99_ttft_ms"),
        (["--percentile-metrics", "e2el"], "median_ttft_ms"),
        (["--percentile-metrics", "ttft,itl,e2el"], "median_tpot_ms"),
    ],
)
def test_the_client_fails_after_the_file_without_all_it_wants(
    atom: Engine, flags: list[str], missing: str, tmp_path: Path
) -> None:
    where = ["--result-dir", str(tmp_path), "--result-filename", "r.json"]
    done = client("atom", atom.port, *where, *flags)
    assert done.returncode == 1
    assert done.stderr.endswith(f"KeyError: '{missing}'\n")
    assert json.loads((tmp_path / "r.json").read_text())["completed"] == 12


def test_the_result_directory_must_exist(atom: Engine, tmp_path: Path) -> None:
    done = client("atom", atom.port, "--result-dir", str(tmp_path / "none"))
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr


def test_the_file_names_itself(atom: Engine, tmp_path: Path) -> None:
    assert client("atom", atom.port, "--result-dir", str(tmp_path), "--request-rate", "500").returncode == 0
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"vllm-500\.0qps-concurrency4-model-\d{8}-\d{6}\.json", file.name)


def test_the_data_set_must_be_named(atom: Engine) -> None:
    done = run(main, ["--model", MODEL])
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: Unknown dataset: sharegpt\n")


def test_nothing_listens(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="All requests failed"):
        done = client("atom", free_port(), "--result-dir", str(tmp_path), "--result-filename", "r.json")
    assert done.returncode == 0
    assert "FAILED requests:                         12" in done.stdout
    result = json.loads((tmp_path / "r.json").read_text())
    expected = json.loads((REAL / "all_failed.json").read_text())
    assert without_server_mark(result) == [key for key in expected if "e2el" not in key]
    assert {result[key] for key in result if key.endswith("_ms")} == {0.0}


def test_a_port_in_use_ends_it_with_3_after_it_looked_ready(atom: Engine) -> None:
    second = launch("atom", port=atom.port)
    assert second.wait() == 3
    ready = second.lines.index("INFO:     Application startup complete.")
    where = ("0.0.0.0", atom.port)
    refused = f"[Errno 98] error while attempting to bind on address {where}: address already in use"
    assert second.lines[ready + 1] == f"ERROR:    {refused}"


def test_without_speculation_there_are_no_drafts(tmp_path: Path) -> None:
    with start("atom", ["--disable-uvicorn-access-log", "--served-model-name", MODEL]) as plain:
        assert json.loads(plain.get("/debug/mtp_stats")[1]) == {"enabled": False}
        result = bench("atom", plain.port, tmp_path)
        assert (result["accept_length"], result["acceptance_rate"]) == (None, None)
        assert not [line for line in plain.lines if "POST" in line]
        assert plain.end() == 0
        assert plain.lines[-1].startswith("INFO:     Finished server process")
