"""The stand-in for SGLang against what SGLang prints, answers and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .running import DATA, MODEL, Engine, bench, client, free_port, labels, launch, start, without_server_mark

REAL = DATA.parent / "clients/sglang"


def test_the_log_comes_in_the_real_order(sglang: Engine) -> None:
    assert sglang.lines[0] == "stand-in engine, no model is loaded"
    expected = [
        "server_args=ServerArgs(",
        "Load weight begin",
        "Load weight end",
        "Started server process",
        "Application startup complete.",
        "Uvicorn running on",
        '"GET /get_model_info HTTP/1.1" 200 OK',
        '"POST /generate HTTP/1.1" 200 OK',
        "The server is fired up and ready to roll!",
    ]
    found = [next((text for text in expected if text in line), "") for line in sglang.lines]
    assert [text for text in found if text][:9] == expected


def test_pages(sglang: Engine) -> None:
    assert sglang.get("/health") == (200, "")
    models = json.loads(sglang.get("/v1/models")[1])
    real = json.loads((DATA / "sglang_v1_models.json").read_text())
    assert [card.keys() for card in models["data"]] == [card.keys() for card in real["data"]]
    assert json.loads(sglang.get("/server_info")[1])["internal_states"][0]["avg_spec_accept_length"] is None
    assert 'sglang:num_running_reqs{model_name="org/model"} 0.0' in sglang.get("/metrics")[1]


def test_health_is_503_until_the_warm_up_is_done() -> None:
    starting = launch("sglang", STANDIN_PREFILL_TOK_S="0.001", STANDIN_SPEED="1")
    starting.until("Uvicorn running on")
    assert starting.get("/health") == (503, "")
    assert starting.get("/v1/models")[0] == 200
    assert starting.end() == 0


def test_generate_streams_the_whole_text_so_far(sglang: Engine) -> None:
    body = {"text": "one two three", "sampling_params": {"max_new_tokens": 400, "ignore_eos": True}}
    frames = sglang.events("/generate", **body)[:-1]
    tokens = [frame["meta_info"]["completion_tokens"] for frame in frames]
    assert tokens == sorted(tokens)
    assert [len(frame["text"].split()) for frame in frames] == tokens
    assert frames[-1]["meta_info"]["finish_reason"] == {"type": "length", "length": 400}
    assert frames[0]["meta_info"]["finish_reason"] is None
    assert frames[0]["meta_info"]["prompt_tokens"] == 3
    whole = json.loads(sglang.post("/generate", text="a", sampling_params={"max_new_tokens": 3, "stop": "x"})[1])
    assert whole["meta_info"]["completion_tokens"] == 3


def test_any_model_name_is_served(sglang: Engine) -> None:
    status, text = sglang.post("/v1/completions", model="x", prompt="one", max_tokens=2)
    assert (status, json.loads(text)["choices"][0]["finish_reason"]) == (200, "length")
    status, text = sglang.post("/v1/chat/completions", messages=[{"role": "user", "content": "hi"}], max_tokens=2)
    assert json.loads(text)["usage"]["completion_tokens"] == 2


def test_streams_of_openai(sglang: Engine) -> None:
    frames = sglang.events("/v1/completions", prompt="a", max_tokens=2, stream_options={"include_usage": True})
    assert frames[-2]["choices"] == []
    chat = sglang.events("/v1/chat/completions", messages=[{"role": "user", "content": "hi"}], max_tokens=2)
    assert chat[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chat[-2]["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/completions", {"prompt": "a", "max_tokens": 10**6}, "exceeds the model's maximum context length"),
        ("/generate", {"text": "a", "sampling_params": {"max_new_tokens": 10**6}}, "exceeds the model's maximum"),
        ("/generate", {}, "Either text, input_ids or input_embeds should be provided."),
    ],
)
def test_refusals(sglang: Engine, path: str, body: dict[str, object], said: str) -> None:
    status, text = sglang.post(path, **body)
    assert (status, said in text) == (400, True)


@pytest.mark.parametrize(
    ("flags", "sample"),
    [([], "v0.5.23"), (["--output-details", "--goodput", "ttft:9000", "tpot:9000"], "v0.5.23_goodput")],
)
def test_the_artifact_has_the_real_keys(sglang: Engine, tmp_path: Path, flags: list[str], sample: str) -> None:
    result = bench("sglang", sglang.port, tmp_path, "--random-range-ratio", "1.0", *flags)
    assert without_server_mark(result) == list(json.loads((REAL / f"{sample}.jsonl").read_text().splitlines()[0]))
    assert (result["completed"], result["total_input_tokens"], result["total_output_tokens"]) == (12, 768, 288)
    assert result["total_output_tokens_retokenized"] == 288
    assert result.get("slo_attainment", 1.0) == 1.0


def test_runs_pile_up_in_one_file_that_is_no_strict_json(sglang: Engine, tmp_path: Path) -> None:
    for _ in range(2):
        bench_once = client("sglang", sglang.port, "--output-file", str(tmp_path / "r.jsonl"))
        assert bench_once.returncode == 0, bench_once.stderr
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    assert len(lines) == 2
    assert '"request_rate": Infinity' in lines[0]


def test_the_table_has_the_real_lines(sglang: Engine, tmp_path: Path) -> None:
    flags = ["--goodput", "ttft:9000", "tpot:9000", "--output-file", str(tmp_path / "r.jsonl")]
    said = client("sglang", sglang.port, *flags)
    assert labels(said.stdout) == labels((DATA / "sglang_goodput.stdout.txt").read_text())


def test_lengths_are_drawn_up_to_the_full_length(sglang: Engine, tmp_path: Path) -> None:
    result = bench("sglang", sglang.port, tmp_path, "--random-range-ratio", "0.5", "--output-details")
    assert all(32 <= length <= 64 for length in result["input_lens"])
    assert all(12 <= length <= 24 for length in result["output_lens"])
    assert len(set(result["input_lens"])) > 1


@pytest.mark.parametrize("backend", ["vllm", "sglang-oai-chat"])
def test_other_backends_go_through_openai(sglang: Engine, tmp_path: Path, backend: str) -> None:
    result = bench("sglang", sglang.port, tmp_path, "--backend", backend, "--random-range-ratio", "1.0")
    assert (result["backend"], result["total_output_tokens"]) == (backend, 288)
    assert (result["server_info"] is None) == (backend == "vllm")


def test_the_usage_frame_of_a_native_atom_server_breaks_it(atom: Engine) -> None:
    done = client("sglang", atom.port, "--backend", "vllm")
    assert done.returncode == 1
    assert "ValueError: Warmup failed" in done.stderr
    assert "IndexError: list index out of range" in done.stderr


def test_speculation_is_in_the_result(tmp_path: Path) -> None:
    argv = ["--speculative-algorithm", "EAGLE", "--speculative-num-draft-tokens", "4", "--skip-server-warmup"]
    with start("sglang", argv) as server:
        result = bench("sglang", server.port, tmp_path)
        assert server.get("/metrics")[0] == 404
    assert result["accept_length"] == pytest.approx(3.8)


def test_nothing_answers_the_warm_up(tmp_path: Path) -> None:
    with start("sglang", STANDIN_FAULT_FAIL_EVERY="1") as failing:
        done = client("sglang", failing.port, "--output-file", str(tmp_path / "r.jsonl"))
    assert done.returncode == 1
    assert "ValueError: Warmup failed" in done.stderr
    assert not (tmp_path / "r.jsonl").exists()


def test_every_request_fails(tmp_path: Path) -> None:
    with start("sglang", STANDIN_FAULT_FAIL_EVERY="1") as failing:
        flags = ["--warmup-requests", "0", "--output-file", str(tmp_path / "r.jsonl")]
        done = client("sglang", failing.port, *flags)
    assert done.returncode == 1
    assert done.stderr.endswith("IndexError: index -1 is out of bounds for axis 0 with size 0\n")


def test_a_server_that_does_not_come(tmp_path: Path) -> None:
    done = client("sglang", free_port(), "--ready-check-timeout-sec", "1")
    assert (done.returncode, "is not ready. Exiting." in done.stdout) == (1, True)


def test_a_port_in_use_ends_it_with_3(sglang: Engine) -> None:
    second = launch("sglang", port=sglang.port)
    assert second.wait() == 3
    assert "address already in use" in second.lines[-1]


def test_its_name_may_be_another(tmp_path: Path) -> None:
    with start("sglang", ["--served-model-name", "other"]) as server:
        models = json.loads(server.get("/v1/models")[1])["data"]
    assert [(card["id"], card["root"]) for card in models] == [("other", MODEL)]
