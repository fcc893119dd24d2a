"""What drivers find wrong in the user's arguments, and what they let pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.diagnostics import Severity
from atomcfg.drivers import DRIVERS
from atomcfg.model import Combo, Run

from .factory import check, make, words

ARGUMENTS = {"atom": "atom_args", "vllm": "serve_args", "vllm_atom": "serve_args", "sglang": "sglang_args"}
SEVERAL: dict[str, Any] = {"nnodes": 2, "pipeline_parallel_size": 2}
TWO_CELLS = tuple(Run(Combo(f"c{n}", 8, 4), n, ("sweep", "runs", n)) for n in (1, 2))


def found(driver: str, arguments: object, **params: Any) -> list[str]:
    settings = make({"roles": {"server": {ARGUMENTS[driver]: arguments}}}, driver=driver, **params)
    return [f"{item.code} {item.summary}; {item.hint}" for item in check(settings)]


@pytest.mark.parametrize(
    ("driver", "arguments", "params", "said"),
    [
        (
            "atom",
            ["-tp", "4"],
            {},
            "A500 -tp is 4, but params.tensor_parallelism is 8 by default; "
            "write it in one place only, params.tensor_parallelism",
        ),
        (
            "atom",
            ["--max_model_len=4096"],
            {"max_model_length": 8192},
            "A500 --max_model_len is 4096, but params.max_model_length is 8192; "
            "write it in one place only, params.max_model_length",
        ),
        (
            "atom",
            ["-dp", "4"],
            {"nnodes": 2},
            "A500 -dp is 4, but params.nnodes is 2; write it in one place only, params.nnodes",
        ),
        (
            "vllm",
            {"host": "127.0.0.1"},
            {},
            "A500 --host is 127.0.0.1, but the driver writes --host 0.0.0.0; remove it",
        ),
        (
            "vllm",
            {"node_rank": 0},
            SEVERAL,
            "A500 --node_rank is 0, but the driver writes --node-rank 1; remove it",
        ),
        (
            "vllm",
            {"tokenizer-mode": "slow"},
            {},
            "A500 --tokenizer-mode is slow, but params.tokenizer_mode is auto by default; "
            "write it in one place only, params.tokenizer_mode",
        ),
        (
            "vllm",
            {"model": "other/model"},
            {},
            "A500 --model is other/model, but model.id is org/model by default; "
            "write it in one place only, model.id",
        ),
        (
            "sglang",
            ["--dist-init-addr", "10.0.0.9:29501"],
            SEVERAL,
            "A500 --dist-init-addr is 10.0.0.9:29501, but params.master_addr and params.master_port make it "
            "10.0.0.1:29501 by default; write it in one place only, params.master_addr and params.master_port",
        ),
        (
            "sglang",
            ["--tp"],
            {},
            "A500 --tp is given, but params.tensor_parallelism is 8 by default; "
            "write it in one place only, params.tensor_parallelism",
        ),
        (
            "vllm",
            {"headless": True},
            SEVERAL,
            "A501 --headless may not be given: the driver writes it on every rank but the head's; remove it",
        ),
        (
            "atom",
            ["--nnodes=2"],
            {},
            "A502 --nnodes is another engine's flag, not one of ATOM's server; params.nnodes decides it",
        ),
        (
            "sglang",
            ["--gpu-memory-utilization", "0.9"],
            {},
            "A502 --gpu-memory-utilization is another engine's flag, not one of SGLang's server; "
            "here it is --mem-fraction-static",
        ),
        (
            "atom",
            ["--context_length", "8192"],
            {},
            "A502 --context_length is another engine's flag, not one of ATOM's server; "
            "here it is --max-model-len, and params.max_model_length decides it",
        ),
        (
            "atom",
            ["--headless"],
            {},
            "A502 --headless is another engine's flag, not one of ATOM's server; "
            "nothing here is like it; remove it",
        ),
        (
            "atom",
            ["--enable-prefix-caching", "--no-enable_prefix_caching"],
            {},
            "A503 --no-enable_prefix_caching contradicts --enable-prefix-caching; keep one of them",
        ),
        (
            "sglang",
            ["--kv-cache-dtype=fp8"],
            {},
            "A504 --kv-cache-dtype fp8 is another engine's value; "
            "one of auto, bf16, bfloat16, fp8_e4m3, fp8_e5m2, fp4_e2m1",
        ),
        (
            "atom",
            ["--moe-backend", "huge"],
            {},
            "A505 ATOM's server is not known to take --moe-backend huge; one of standard, mega",
        ),
        (
            "vllm",
            {"max-num-seq5": 8},
            {},
            'A506 vLLM\'s server is not known to take --max-num-seq5; did you mean "--max-num-seqs"?',
        ),
        (
            "atom",
            ["--frobnicate"],
            {},
            "A506 ATOM's server is not known to take --frobnicate; "
            "the program itself is asked before it is started",
        ),
        (
            "atom",
            ["--block-size", "16", "--block_size", "32"],
            {},
            "A507 --block_size is given twice, with 16 and 32; the program keeps the last one; keep one of them",
        ),
        ("atom", ["8", "-tp", "8"], {}, 'A508 "8" belongs to no flag; a flag starts with a dash'),
        (
            "sglang",
            ["--dp-size", "2.5"],
            {},
            "A517 --dp-size 2.5 is no whole number from 1; the plan counts GPUs with it",
        ),
    ],
)
def test_one_fault(driver: str, arguments: object, params: dict[str, Any], said: str) -> None:
    assert found(driver, arguments, **params) == [said]


@pytest.mark.parametrize(
    ("driver", "arguments", "params"),
    [
        ("atom", ["--port", "9000", "--server-port", "8000"], {}),
        ("atom", ["-tp", "8", "--tensor-parallel-size=8"], {}),
        ("atom", ["--kv-cache-dtype", "fp8", "--trust-remote-code", "--enforce"], {}),
        ("atom", ["--load_dummy"], {}),  # a known flag without its optional value
        ("vllm", {"enable-prefix-caching": True}, {}),
        ("vllm", {"enable-prefix-caching": True, "no-enable-prefix-caching": False}, {}),
        ("vllm", {"middleware": ["a", "b"], "no-async-scheduling": True}, {}),
        ("vllm", {"headless": None, "tensor-parallel-size": False}, {}),
        ("vllm", {"distributed-executor-backend": "ray", "node-rank": None}, SEVERAL),
        ("vllm", {"compilation-config.mode": 3, "-O": 2}, {}),
        ("vllm_atom", {"tokenizer-mode": "deepseek_v4"}, {"tokenizer_mode": "deepseek_v4"}),
        ("sglang", ["--tp-size", "8", "--context-length", "8192", "--nnodes", "1"], {}),
        ("sglang", ["--kv-cache-dtype", "fp8_e4m3", "--dtype", "auto"], {}),
    ],
)
def test_no_fault(driver: str, arguments: object, params: dict[str, Any]) -> None:
    assert found(driver, arguments, **params) == []


def test_faults_are_shown_where_they_stand() -> None:
    config = {"roles": {"server": {"atom_args": ["--nnodes", "2", "--kv-cache-dtype", "auto", "-tp=4"]}}}
    first, second, third = check(make(config, tensor_parallelism=8))
    assert [item.span.text.strip() for item in (first, second, third)] == ['"--nnodes",', '"auto",', '"-tp=4"']
    assert [item.severity for item in (first, second, third)] == [Severity.ERROR] * 3
    (related,) = third.related
    assert (related.message, related.span.text.strip()) == (
        "params.tensor_parallelism is 8",
        '"tensor_parallelism": 8',
    )


def test_faults_of_an_object_are_shown_at_key_or_value() -> None:
    config = {"roles": {"server": {"serve_args": {"mem-fraction-static": 0.5, "kv-cache-dtype": "bf16"}}}}
    name, value = check(make(config, driver="vllm"))
    assert name.span.text[name.span.column - 1 : name.span.end_column - 1] == '"mem-fraction-static"'
    assert value.span.text[value.span.column - 1 : value.span.end_column - 1] == '"bf16"'


@pytest.mark.parametrize(
    ("driver", "extra", "codes"),
    [
        ("atom", "--use-chat-template --num-prompts=1000 --random_range_ratio 0.80", []),
        ("atom", "--metric-percentiles 99,95 --seed 0 --save-result", []),
        ("atom", "--seed 1", ["A500"]),
        ("atom", "--result-dir /x", ["A500"]),
        ("atom", "--output-file x", ["A502"]),
        ("vllm", "--append-result", ["A501"]),
        ("vllm", "--no-stream --save-detailed --max-concurrency 8", []),
        ("vllm", "--use-chat-template", ["A502"]),
        ("vllm", "--endpoint-type openai", ["A506"]),
        ("sglang", "--burstiness 1.0", ["A502"]),
        ("sglang", "--warmup-requests 4 --random-input-len 1024", []),
        ("sglang", "--num-warmups 4", ["A502"]),
        ("sglang", "--lora-request-distribution odd", ["A505"]),
    ],
)
def test_client_arguments(driver: str, extra: str, codes: list[str]) -> None:
    assert [item.code for item in check(make(driver=driver, bench_extra_args=extra))] == codes


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_value_that_belongs_to_the_cell_must_fit_every_cell(driver: str) -> None:
    config = {"sweep": {"runs": [{}, {"concurrency": 1}, {"concurrency": 2}]}}
    (fault,) = check(make(config, TWO_CELLS, driver=driver, bench_extra_args="--max-concurrency 1"))
    assert fault.summary == "--max-concurrency is 1, but sweep.runs[2] is 2"
    assert not check(make(runs=TWO_CELLS, driver=driver, bench_extra_args="--random-input-len 8"))


@pytest.mark.parametrize(
    ("driver", "params", "codes"),
    [
        ("atom", {"dataset_name": "sharegpt"}, ["A510"]),
        ("atom", {"tokenizer_mode": "deepseek_v4"}, ["A510"]),
        ("atom", {"percentile_metrics": "ttft,itl"}, ["A512"]),
        ("vllm", {"tokenizer_mode": "deepseek_v4"}, []),
        ("vllm", {"dataset_name": "sharegpt"}, ["A511"]),
        ("vllm", {"percentile_metrics": "e2el"}, []),
        ("vllm", {"metric_percentiles": "0,99"}, ["A514"]),
        ("vllm", {"metric_percentiles": "99.9, 100"}, []),
        ("vllm_atom", {"random_range_ratio": "1.0"}, ["A516"]),
        ("sglang", {"dataset_name": "random-ids", "random_range_ratio": "1", "burstiness": "0"}, []),
        ("sglang", {"dataset_name": "sharegpt", "request_rate": "inf"}, ["A511"]),
    ],
)
def test_parameters(driver: str, params: dict[str, Any], codes: list[str]) -> None:
    assert [item.code for item in check(make(driver=driver, **params))] == codes


SPELLINGS: dict[str, tuple[str, ...]] = {
    "atom": ("--tensor-parallel-size", "--tensor_parallel_size", "-tp", "--tensor-par"),
    "vllm": ("--tensor-parallel-size", "--tensor_parallel-size", "-tp", "--tensor"),
    "sglang": ("--tensor-parallel-size", "--tp-size", "--tp", "--tensor_parallel_size", "--tensor"),
}


@given(st.data(), st.integers(1, 64), st.integers(1, 64))
def test_any_spelling_of_the_same_value_is_taken_and_written_once(data: Any, size: int, given_size: int) -> None:
    driver = data.draw(st.sampled_from(sorted(SPELLINGS)))
    flag = data.draw(st.sampled_from(SPELLINGS[driver]))
    arguments: object = [f"{flag}={given_size}"] if data.draw(st.booleans()) else [flag, str(given_size)]
    if driver == "vllm":
        arguments = {flag.removeprefix("--"): data.draw(st.sampled_from([given_size, str(given_size)]))}
    settings = make({"roles": {"server": {ARGUMENTS[driver]: arguments}}}, driver=driver, tensor_parallelism=size)
    codes = [item.code for item in check(settings)]
    assert codes == ([] if size == given_size else ["A500"])
    argv = words(DRIVERS[driver].server(settings, 0))
    assert sum(word.partition("=")[0] in SPELLINGS[driver] for word in argv) == 1
