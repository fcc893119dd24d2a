"""ATOM: `openai_server` and its own benchmark client. Several nodes run SPMD data parallel, one rank each."""

from __future__ import annotations

from collections.abc import Mapping

from atomcfg.diagnostics import Diagnostics
from atomcfg.model import Settings
from atomcfg.tokens import template

from . import client, flag_names, parameters
from .base import Arg, ClientRequest, Driver, EnvEntry, LengthRange
from .checks import Program, check_arguments
from .counterparts import CLIENT_CONCEPTS, CLIENT_VALUES, SERVER_CONCEPTS, SERVER_VALUES
from .environment import base_env, http_port, launch_env, literal, master_addr, master_port, model
from .flags import Given, count_of, flag_table, read_words
from .layout import Layout, compose, option, serving_option
from .reports import asked_percentiles, reports

__all__ = ["DRIVER"]

_SERVER = flag_table(flag_names.ATOM_SERVER, switches="enable-prefix-caching enable-chunked-prefill")
_CLIENT = flag_table(flag_names.ATOM_CLIENT)
_SERVER_PROGRAM = Program(
    "ATOM's server", "atom", _SERVER, SERVER_CONCEPTS, SERVER_VALUES, counts=frozenset({"data-parallel-size"})
)
_CLIENT_PROGRAM = Program("ATOM's client", "atom", _CLIENT, CLIENT_CONCEPTS, CLIENT_VALUES)
_TOKENIZER_MODES = ("auto", "slow", "mistral", "custom")


def _server_given(settings: Settings) -> tuple[Given, ...]:
    return read_words(settings.server.arguments.get("atom_args"), ("roles", "server", "atom_args"), _SERVER)


def _client_given(settings: Settings) -> tuple[Given, ...]:
    return read_words(settings.params.bench_extra_args, ("params", "bench_extra_args"), _CLIENT, indexed=False)


def _server_layout(settings: Settings) -> Layout:
    """The user's words come first: what they leave open of size and length is added behind them."""
    params = settings.params
    replicas = option("-dp", str(params.nnodes), name="data-parallel-size", origins=[("params", "nnodes")])
    size = option(
        "-tp",
        str(params.tensor_parallelism),
        name="tensor-parallel-size",
        origins=[("params", "tensor_parallelism")],
    )
    return Layout(
        program=("python", "-m", "atom.entrypoints.openai_server"),
        head=(
            option("--model", model(settings), origins=[("model", "id")]),
            option("--server-port", http_port(settings), origins=[("params", "port_no")]),
        ),
        trailing=(
            size,
            *((replicas,) if params.nnodes > 1 else ()),
            option("--max-model-len", str(params.max_model_length), origins=[("params", "max_model_length")]),
            *serving_option(settings, "memory_fraction", "--gpu-memory-utilization"),
        ),
        implied=(
            option("--pipeline-parallel-size", "1", origins=[("params", "pipeline_parallel_size")]),
            option("--served-model-name", model(settings), origins=[("model", "id")]),
        ),
    )


def _server(settings: Settings, _rank: int) -> tuple[Arg, ...]:
    """The same on every rank: ranks differ by their environment."""
    return compose(_server_layout(settings), _server_given(settings), settings.paths.models_dir)


def _server_env(settings: Settings, rank: int) -> tuple[EnvEntry, ...]:
    """`ATOM_DP_*` tells each node's rank where the others are; there is one rank a node."""
    nodes = settings.params.nnodes
    if nodes == 1:
        return launch_env(settings)
    return (
        *launch_env(settings),
        literal("ATOM_DP_RANK", str(rank)),
        literal("ATOM_DP_SIZE", str(nodes), "params.nnodes"),
        literal("ATOM_DP_RANK_LOCAL", "0"),
        literal("ATOM_DP_MASTER_IP", master_addr(settings), "params.master_addr"),
        literal("ATOM_DP_MASTER_PORT", master_port(settings), "params.master_port"),
    )


def _client_layout(settings: Settings, request: ClientRequest) -> Layout:
    url = template("http://localhost:", http_port(settings))
    return Layout(
        program=("python", "-m", "atom.benchmarks.benchmark_serving"),
        head=(
            option("--model", model(settings), origins=[("model", "id")]),
            option("--backend", "vllm"),
            option("--base-url", url, origins=[("params", "port_no")]),
            client.param_option(settings, "dataset_name"),
            client.cell_option(request, "--random-input-len", request.isl),
            client.cell_option(request, "--random-output-len", request.osl),
            client.param_option(settings, "random_range_ratio"),
            client.cell_option(request, "--max-concurrency", request.concurrency),
            client.param_option(settings, "num_prompts"),
            option("--trust-remote-code"),
            client.cell_option(request, "--num-warmups", request.warmups),
            client.param_option(settings, "request_rate"),
            option("--ignore-eos"),
            option("--save-result"),
            client.param_option(settings, "percentile_metrics"),
            client.percentile_option(request),
            client.seed_option(request),
            client.param_option(settings, "burstiness"),
            client.param_option(settings, "random_prefix_len"),
            client.param_option(settings, "tokenizer_mode"),
            option("--result-dir", request.result_dir),
            option("--result-filename", _artifact(settings)[0], origins=[("params", "result_filename")]),
            *client.goodput_options(request),
        ),
    )


def _client(settings: Settings, request: ClientRequest) -> tuple[Arg, ...]:
    return compose(_client_layout(settings, request), _client_given(settings), settings.paths.models_dir)


def _check(settings: Settings, found: Diagnostics) -> None:
    document = settings.document
    check_arguments(_SERVER_PROGRAM, _server_given(settings), [_server_layout(settings)], document, found)
    given = _client_given(settings)
    commands = [_client_layout(settings, request) for request in client.check_requests(settings, given)]
    check_arguments(_CLIENT_PROGRAM, given, commands, document, found)
    parameters.check_choice(settings, "dataset_name", ("random",), _CLIENT_PROGRAM.title, found)
    parameters.check_choice(settings, "tokenizer_mode", _TOKENIZER_MODES, _CLIENT_PROGRAM.title, found)
    parameters.check_percentiles(settings, ("ttft", "tpot", "itl"), found)


def _artifact(settings: Settings) -> tuple[str, str]:
    return f"{client.stem(settings)}.json", "atom"


def _lengths(length: int, ratio: float) -> LengthRange:
    """[L*r, L], the lower end rounded down (`sample_random_requests`)."""
    return LengthRange(int(length * ratio), length)


def _produces(settings: Settings, metric: str) -> bool:
    return metric != "max_output_tokens_per_s" and reports(settings, metric)


def _unused(settings: Settings) -> Mapping[str, str]:
    return client.ineffective(settings, {"backend": _OWN, "base_url": _OWN})


def _data_parallel(settings: Settings) -> int:
    nodes = settings.params.nnodes
    return nodes if nodes > 1 else count_of(_server_given(settings), "data-parallel-size") or 1


def _speculative(settings: Settings) -> bool:
    return any(entry.flag is not None and entry.flag.name == "method" for entry in _server_given(settings))


_OWN = "ATOM's client is always given backend vllm and http://localhost"

DRIVER = Driver(
    name="atom",
    arguments="atom_args",
    check=_check,
    server=_server,
    server_env=_server_env,
    client=_client,
    client_env=base_env,
    artifact=_artifact,
    lengths=_lengths,
    percentiles=asked_percentiles,
    produces=_produces,
    unused=_unused,
    data_parallel=_data_parallel,
    speculative=_speculative,
    health_path="/health",
    strict_length=False,
    multinode_is_pipeline=False,
    arguments_required=True,
)
