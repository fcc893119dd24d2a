"""The command lines: real ones are read, wrong ones fail as in the real programs."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from atom.benchmarks import benchmark_serving
from atom.entrypoints import openai_server
from lm_eval.flags import parse_arguments
from sglang import launch_server
from sglang.benchmark import serving
from vllm.bench import bench_arguments
from vllm.entrypoints.cli import main as vllm_main
from vllm.serve import serve_arguments

from .running import python

Reader = Callable[[Sequence[str]], Namespace]

RECORDED = Path(__file__).resolve().parents[2] / "data"
PROGRAMS: tuple[tuple[list[str], Reader], ...] = (
    (["python", "-m", "atom.entrypoints.openai_server"], openai_server.arguments),
    (["python", "-m", "atom.benchmarks.benchmark_serving"], benchmark_serving.arguments),
    (["python3", "-m", "vllm.entrypoints.cli.main", "serve"], serve_arguments),
    (["python3", "-m", "vllm.entrypoints.cli.main", "bench", "serve"], bench_arguments),
    (["vllm", "serve"], serve_arguments),
    (["vllm", "bench", "serve"], bench_arguments),
    (["python3", "-m", "sglang.launch_server"], launch_server.arguments),
    (["python3", "-m", "sglang.bench_serving"], serving.arguments),
)


def recorded() -> Iterator[list[str]]:
    """Each command line of the recordings once."""
    seen = set()
    for file in sorted(RECORDED.glob("oracle*/*.json")):
        for cell in json.loads(file.read_text())["cells"]:
            for argv in (*cell["server_argv"], cell["client_argv"]):
                if tuple(argv) not in seen:
                    seen.add(tuple(argv))
                    yield argv


@pytest.mark.parametrize("argv", list(recorded()), ids=" ".join)
def test_recorded_commands_are_read(argv: list[str]) -> None:
    readers = [(head, read) for head, read in PROGRAMS if argv[: len(head)] == head]
    assert len(readers) == 1
    head, read = readers[0]
    args = read(argv[len(head) :])
    assert (getattr(args, "model", None) or args.model_path) in argv


@pytest.mark.parametrize(
    ("head", "read"), PROGRAMS, ids=lambda item: " ".join(item) if isinstance(item, list) else ""
)
def test_an_unknown_flag_ends_the_program(
    head: list[str], read: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read(["--model", "m", "--bogus"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith("error: unrecognized arguments: --bogus\n")


@pytest.mark.parametrize(
    ("read", "argv", "name", "value"),
    [
        (openai_server.arguments, ["--kv-cache-dtype", "fp8"], "kv_cache_dtype", "fp8"),
        (openai_server.arguments, ["--kv_cache_dtype=fp8"], "kv_cache_dtype", "fp8"),
        (openai_server.arguments, ["-tp", "8"], "tensor_parallel_size", 8),
        (openai_server.arguments, ["--no-enable_prefix_caching"], "enable_prefix_caching", False),
        (openai_server.arguments, ["--no-enable-prefix-caching"], "enable_prefix_caching", False),
        (openai_server.arguments, ["--hf-overrides", '{"a": 1}'], "hf_overrides", {"a": 1}),
        (openai_server.arguments, ["--max-num-b", "7"], "max_num_batched_tokens", 7),
        (openai_server.arguments, [], "port", 8006),
        (benchmark_serving.arguments, ["--model", "m"], "dataset_name", "sharegpt"),
        (benchmark_serving.arguments, ["--model", "m", "--metadata", "a=b", "c"], "metadata", ["a=b", "c"]),
        (serve_arguments, ["m", "--tensor_parallel_size", "4"], "tensor_parallel_size", 4),
        (serve_arguments, ["m", "-tp=4"], "tensor_parallel_size", 4),
        (serve_arguments, ["m", "--disable-prefix-caching"], "enable_prefix_caching", False),
        (serve_arguments, ["m", "--no-enable_prefix_caching"], "enable_prefix_caching", False),
        (serve_arguments, ["m", "--max-model-len", "8K"], "max_model_len", 8192),
        (serve_arguments, ["m", "-O3"], "optimization_level", "3"),
        (serve_arguments, ["m", "-O", "2"], "optimization_level", "2"),
        (serve_arguments, ["m", "--compilation-config.a.b_c", "3"], "compilation_config", {"a": {"b_c": 3}}),
        (serve_arguments, ["m", "--compilation-config.mode=X"], "compilation_config", {"mode": "X"}),
        (serve_arguments, ["--model", "m"], "model", "m"),
        (bench_arguments, ["--random-range-ratio", "0.8"], "random_range_ratio", "0.8"),
        (launch_server.arguments, ["--model", "m", "--tp", "8"], "tp_size", 8),
        (launch_server.arguments, ["--model-path", "m", "--ep", "8"], "ep_size", 8),
        (launch_server.arguments, ["--model-path", "m", "--context-length", "4k"], "context_length", 4000),
        (serving.arguments, [], "seed", 42),
        (parse_arguments, ["run", "--tasks", "a,b", "c"], "tasks", ["a", "b", "c"]),
        (parse_arguments, ["--model_args", "a=1,b=True,c=x/y"], "model_args", {"a": 1, "b": True, "c": "x/y"}),
        (parse_arguments, ["--model_args", '{"a": [1]}'], "model_args", {"a": [1]}),
        (parse_arguments, ["--apply_chat_template"], "apply_chat_template", True),
        (parse_arguments, [], "apply_chat_template", False),
        (parse_arguments, ["--seed", "7"], "seed", [7, 7, 7, 7]),
        (parse_arguments, ["--seed", "1,None,2"], "seed", [1, None, 2, 1234]),
        (parse_arguments, ["--batch_size", "auto"], "batch_size", "auto"),
    ],
)
def test_flags_are_read_as_the_real_programs_read_them(
    read: Reader, argv: list[str], name: str, value: object
) -> None:
    assert getattr(read(argv), name) == value


@pytest.mark.parametrize(
    ("read", "argv"),
    [
        (openai_server.arguments, ["--kv-cache-dtype", "auto"]),
        (openai_server.arguments, ["--max-num-seqs", "many"]),
        (benchmark_serving.arguments, []),
        (benchmark_serving.arguments, ["--model", "m", "--dataset-name", "sharegpt"]),
        (serve_arguments, ["m", "--dtype", "fp8"]),
        (launch_server.arguments, ["--port", "1"]),
        (launch_server.arguments, ["--model-path", "m", "--pp", "2"]),  # short for three flags
        (launch_server.arguments, ["--model-path", "m", "--kv-cache-dtype", "fp8"]),
        (parse_arguments, ["--seed", "1,2"]),
        (parse_arguments, ["--seed", "x"]),
    ],
)
def test_wrong_values_end_the_program(read: Reader, argv: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(argv)
    assert ended.value.code == 2


def helped(read: Reader, argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        read(argv)
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("read", "argv", "flags"),
    [
        (openai_server.arguments, ["--help"], 59),
        (benchmark_serving.arguments, ["--help"], 46),
        (serve_arguments, ["--help=all"], 320),
        (bench_arguments, ["--help=all"], 100),
        (launch_server.arguments, ["--help"], 500),
        (serving.arguments, ["--help"], 85),
        (parse_arguments, ["--help"], 30),
    ],
)
def test_help_lists_every_flag(
    read: Reader, argv: list[str], flags: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = helped(read, argv, capsys)
    assert sum(line.startswith("  -") for line in text.splitlines()) >= flags


def test_plain_help_of_vllm_is_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert helped(serve_arguments, ["--help"], capsys).endswith("vllm serve --help=all\n")
    assert "--max-model-len" in helped(serve_arguments, ["--help=max_model"], capsys)
    assert "No group or arguments" in helped(serve_arguments, ["--help=nothing"], capsys)


@pytest.mark.parametrize(("argv", "code"), [(["--help"], 0), ([], 2), (["chat"], 2)])
def test_other_commands_of_vllm_are_not_known(
    argv: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vllm_main.main(argv, {}) == code
    assert capsys.readouterr().err.startswith("usage: vllm ")


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (["-m", "atom.entrypoints.openai_server"], "openai_server.py: error: unrecognized arguments: --bogus"),
        (
            ["-m", "atom.benchmarks.benchmark_serving"],
            "benchmark_serving.py: error: unrecognized arguments: --bogus",
        ),
        (["-m", "vllm.entrypoints.cli.main", "serve"], "vllm serve: error: unrecognized arguments: --bogus"),
        (["-m", "vllm.entrypoints.cli.main", "bench", "serve"], "serve: error: unrecognized arguments: --bogus"),
        (["-m", "sglang.launch_server"], "launch_server.py: error: unrecognized arguments: --bogus"),
        (["-m", "sglang.benchmark.serving"], "serving.py: error: unrecognized arguments: --bogus"),
        (["-m", "sglang.bench_serving"], "FutureWarning: `sglang.bench_serving` is deprecated"),
        (["-m", "lm_eval"], "lm-eval: error: unrecognized arguments: "),
    ],
)
def test_the_programs_run_under_their_real_names(head: list[str], said: str) -> None:
    done = python([*head, "--model", "m", "--bogus"])
    assert done.returncode == 2
    assert said in done.stderr


def test_samples_need_somewhere_to_go() -> None:
    with pytest.raises(ValueError, match="--output_path"):
        parse_arguments(["--log_samples"])
