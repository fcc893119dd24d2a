"""vLLM, plain and with ATOM's kernels: one implementation, two drivers that differ in the environment.

Several nodes run pipeline parallel: every node starts the same command with its rank, workers without HTTP.
"""

from __future__ import annotations

import math
import re

from attrs import evolve

from atomcfg.diagnostics import Diagnostics
from atomcfg.model import Settings
from atomcfg.tokens import template

from . import client, flag_names, parameters
from .base import Arg, ClientRequest, Driver, EnvEntry, LengthRange
from .checks import Program, check_arguments
from .counterparts import CLIENT_CONCEPTS, CLIENT_VALUES, SERVER_CONCEPTS, SERVER_VALUES
from .environment import base_env, http_port, launch_env, literal, master_addr, master_port, model
from .flags import Given, count_of, flag_table, read_object, read_words
from .layout import Layout, Option, compose, option, positional, serving_option
from .reports import asked_percentiles, reports

__all__ = ["VLLM", "VLLM_ATOM"]

_SERVER = flag_table(flag_names.VLLM_SERVER, switches=None)
_CLIENT = flag_table(flag_names.VLLM_CLIENT, switches="self-timed")
_SERVER_PROGRAM = Program(
    "vLLM's server", "vllm", _SERVER, SERVER_CONCEPTS, SERVER_VALUES, counts=frozenset({"data-parallel-size"})
)
_CLIENT_PROGRAM = Program("vLLM's client", "vllm", _CLIENT, CLIENT_CONCEPTS, CLIENT_VALUES)
_ARGS = ("roles", "server", "serve_args")

# ROCm's images have no `vllm` script.
_PROGRAM = ("python3", "-m", "vllm.entrypoints.cli.main")

# DeepSeek V4 runs neither eager nor with the kernels that these variables choose.
_DEEPSEEK_V4 = re.compile(r"deepseek[-_.]?v4", re.IGNORECASE)
_ATOM_KERNELS = (
    literal("VLLM_USE_AITER_UNIFIED_ATTENTION", "1"),
    literal("VLLM_ROCM_USE_AITER_MHA", "0"),
    literal("VLLM_ROCM_USE_AITER_FUSED_MOE_A16W4", "1"),
)
_SPECULATIVE = frozenset({"speculative-config", "spec-method", "spec-model"})


def _server_given(settings: Settings) -> tuple[Given, ...]:
    return read_object(settings.server.arguments.get("serve_args"), _ARGS, _SERVER)


def _client_given(settings: Settings) -> tuple[Given, ...]:
    return read_words(settings.params.bench_extra_args, ("params", "bench_extra_args"), _CLIENT, indexed=False)


def _executor(settings: Settings) -> Option:
    """How ranks are started: by the processes themselves, unless the user names another way."""
    flag = "--distributed-executor-backend"
    for entry in _server_given(settings):
        if entry.flag is not None and flag == f"--{entry.flag.name}" and entry.words:
            return option(flag, entry.value, origins=[entry.path], free=True)
    return option(flag, "mp", free=True)


def _node_options(settings: Settings, rank: int) -> tuple[Option, ...]:
    params = settings.params
    stages = option(
        "--pipeline-parallel-size",
        str(params.pipeline_parallel_size),
        origins=[("params", "pipeline_parallel_size")],
    )
    nodes = option("--nnodes", str(params.nnodes), origins=[("params", "nnodes")])
    return (
        option("--node-rank", str(rank)),
        option("--master-addr", master_addr(settings), origins=[("params", "master_addr")]),
        option("--master-port", master_port(settings), origins=[("params", "master_port")]),
        nodes,
        stages,
        _executor(settings),
        *([option("--headless")] if rank > 0 else ()),
    )


def _server_layout(settings: Settings, rank: int) -> Layout:
    params, several = settings.params, settings.params.nnodes > 1
    eager = () if _DEEPSEEK_V4.search(settings.model_id) else (option("--enforce-eager", free=True),)
    size = str(params.tensor_parallelism)
    return Layout(
        program=(*_PROGRAM, "serve"),
        head=(
            positional("model", model(settings), ("model", "id")),
            option("--host", "0.0.0.0"),  # noqa: S104  # what it serves is reached from outside its container
            option("--tensor-parallel-size", size, origins=[("params", "tensor_parallelism")]),
            option("--max-model-len", str(params.max_model_length), origins=[("params", "max_model_length")]),
            option("--port", http_port(settings), origins=[("params", "port_no")]),
            *(_node_options(settings, rank) if several else ()),
        ),
        leading=(
            option("--block-size", "64", free=True),
            option("--no-enable-prefix-caching", free=True),
        ),
        trailing=(
            *eager,
            *serving_option(settings, "memory_fraction", "--gpu-memory-utilization"),
            *serving_option(settings, "log_level", "--uvicorn-log-level"),
        ),
        implied=(
            option("--tokenizer-mode", params.tokenizer_mode, origins=[("params", "tokenizer_mode")]),
            option("--served-model-name", model(settings), origins=[("model", "id")]),
            *(() if several else _node_options(settings, rank)),
        ),
        refused={
            "headless": "the driver writes it on every rank but the head's",
            "api-key": "it would stand in the plan, and the clients have no key",
            "hf-token": "it would stand in the plan; the token travels as a secret",
        },
    )


def _server(settings: Settings, rank: int) -> tuple[Arg, ...]:
    return compose(_server_layout(settings, rank), _server_given(settings), settings.paths.models_dir)


def _kernels_env(settings: Settings, _rank: int) -> tuple[EnvEntry, ...]:
    """With ATOM's kernels chosen, except for the model that does without them."""
    return launch_env(settings, *(() if _DEEPSEEK_V4.search(settings.model_id) else _ATOM_KERNELS))


def _plain_env(settings: Settings, _rank: int) -> tuple[EnvEntry, ...]:
    return launch_env(settings)


def _client_layout(settings: Settings, request: ClientRequest) -> Layout:
    url = template(settings.params.base_url.rstrip("/"), ":", http_port(settings))
    return Layout(
        program=(*_PROGRAM, "bench", "serve"),
        head=(
            option("--model", model(settings), origins=[("model", "id")]),
            client.param_option(settings, "backend"),
            option("--base-url", url, origins=[("params", "base_url"), ("params", "port_no")]),
            client.param_option(settings, "dataset_name"),
            client.param_option(settings, "num_prompts"),
            client.cell_option(request, "--random-input-len", request.isl),
            client.cell_option(request, "--random-output-len", request.osl),
            client.cell_option(request, "--max-concurrency", request.concurrency),
            client.param_option(settings, "request_rate"),
            client.param_option(settings, "burstiness"),
            client.param_option(settings, "tokenizer_mode"),
            client.seed_option(request),
            client.param_option(settings, "random_range_ratio"),
            client.param_option(settings, "random_prefix_len"),
            client.param_option(settings, "percentile_metrics"),
            client.percentile_option(request),
            option("--ignore-eos"),
            option("--save-result"),
            option("--result-dir", request.result_dir),
            option("--result-filename", _artifact(settings)[0], origins=[("params", "result_filename")]),
            option("--disable-tqdm"),
            *client.goodput_options(request),
        ),
        refused={"append-result": "one result file holds one run"},
    )


def _client(settings: Settings, request: ClientRequest) -> tuple[Arg, ...]:
    return compose(_client_layout(settings, request), _client_given(settings), settings.paths.models_dir)


def _check(settings: Settings, found: Diagnostics) -> None:
    document = settings.document
    servers = [_server_layout(settings, rank) for rank in range(settings.params.nnodes)]
    check_arguments(_SERVER_PROGRAM, _server_given(settings), servers, document, found)
    given = _client_given(settings)
    commands = [_client_layout(settings, request) for request in client.check_requests(settings, given)]
    check_arguments(_CLIENT_PROGRAM, given, commands, document, found)
    parameters.check_dataset(settings, ("random",), found)
    parameters.check_percentiles(settings, (), found)
    parameters.check_range_ratio(settings, found)


def _artifact(settings: Settings) -> tuple[str, str]:
    """The name without a suffix, as CVS asks for it."""
    return client.stem(settings), "vllm"


def _lengths(length: int, ratio: float) -> LengthRange:
    """[L*(1-r), L*(1+r)], rounded outwards (`RandomDataset.get_sampling_params`)."""
    return LengthRange(max(math.floor(length * (1 - ratio)), 1), math.ceil(length * (1 + ratio)))


def _data_parallel(settings: Settings) -> int:
    return count_of(_server_given(settings), "data-parallel-size") or 1


def _speculative(settings: Settings) -> bool:
    stems = {entry.flag.name.partition(".")[0] for entry in _server_given(settings) if entry.flag and entry.words}
    return bool(stems & _SPECULATIVE)


VLLM_ATOM = Driver(
    name="vllm_atom",
    arguments="serve_args",
    check=_check,
    server=_server,
    server_env=_kernels_env,
    client=_client,
    client_env=base_env,
    artifact=_artifact,
    lengths=_lengths,
    percentiles=asked_percentiles,
    produces=reports,
    unused=lambda _settings: {},
    data_parallel=_data_parallel,
    speculative=_speculative,
    health_path="/health",
    strict_length=False,
    multinode_is_pipeline=True,
    own_multinode=lambda settings: _executor(settings).value == "ray",
)

VLLM = evolve(VLLM_ATOM, name="vllm", server_env=_plain_env)
