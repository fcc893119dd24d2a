"""SGLang: `launch_server` and `bench_serving`. Several nodes run pipeline parallel under one coordinator."""

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
from .layout import Layout, Option, compose, option, serving_option
from .reports import latency_of

__all__ = ["DRIVER"]

_SERVER = flag_table(flag_names.SGLANG_SERVER, switches=None)
_CLIENT = flag_table(flag_names.SGLANG_CLIENT)
_SERVER_PROGRAM = Program(
    "SGLang's server", "sglang", _SERVER, SERVER_CONCEPTS, SERVER_VALUES, counts=frozenset({"dp-size"})
)
_CLIENT_PROGRAM = Program("SGLang's client", "sglang", _CLIENT, CLIENT_CONCEPTS, CLIENT_VALUES)
_ARGS = ("roles", "server", "sglang_args")

# The statistics that every release reports; later ones add p90 and p95.
_STATISTICS = ("mean", "median", "std", "p99")


def _server_given(settings: Settings) -> tuple[Given, ...]:
    return read_words(settings.server.arguments.get("sglang_args"), _ARGS, _SERVER)


def _client_given(settings: Settings) -> tuple[Given, ...]:
    return read_words(settings.params.bench_extra_args, ("params", "bench_extra_args"), _CLIENT, indexed=False)


def _node_options(settings: Settings, rank: int) -> tuple[Option, ...]:
    params = settings.params
    address = template(master_addr(settings), ":", master_port(settings))
    return (
        option("--pp-size", str(params.pipeline_parallel_size), origins=[("params", "pipeline_parallel_size")]),
        option("--nnodes", str(params.nnodes), origins=[("params", "nnodes")]),
        option("--node-rank", str(rank)),
        option("--dist-init-addr", address, origins=[("params", "master_addr"), ("params", "master_port")]),
    )


def _server_layout(settings: Settings, rank: int) -> Layout:
    params = settings.params
    nodes = _node_options(settings, rank)
    size = str(params.tensor_parallelism)
    return Layout(
        program=("python3", "-m", "sglang.launch_server"),
        head=(
            option("--model-path", model(settings), origins=[("model", "id")]),
            option("--host", "0.0.0.0"),  # noqa: S104  # what it serves is reached from outside its container
            option("--port", http_port(settings), origins=[("params", "port_no")]),
            option("--tp", size, name="tp-size", origins=[("params", "tensor_parallelism")]),
            *(nodes if params.nnodes > 1 else ()),
        ),
        leading=(
            option("--context-length", str(params.max_model_length), origins=[("params", "max_model_length")]),
        ),
        trailing=(
            *serving_option(settings, "memory_fraction", "--mem-fraction-static"),
            *serving_option(settings, "log_level", "--log-level"),
        ),
        implied=(
            option("--served-model-name", model(settings), origins=[("model", "id")]),
            *(() if params.nnodes > 1 else nodes),
        ),
        refused={"api-key": "it would stand in the plan, and the clients have no key"},
    )


def _server(settings: Settings, rank: int) -> tuple[Arg, ...]:
    return compose(_server_layout(settings, rank), _server_given(settings), settings.paths.models_dir)


def _server_env(settings: Settings, _rank: int) -> tuple[EnvEntry, ...]:
    return launch_env(settings)


def _client_layout(settings: Settings, request: ClientRequest) -> Layout:
    artifact = template(request.result_dir, "/", _artifact(settings)[0])
    return Layout(
        program=("python3", "-m", "sglang.bench_serving"),
        head=(
            option("--backend", "sglang"),
            option("--host", "127.0.0.1"),
            option("--port", http_port(settings), origins=[("params", "port_no")]),
            option("--model", model(settings), origins=[("model", "id")]),
            client.param_option(settings, "dataset_name"),
            client.param_option(settings, "num_prompts"),
            client.cell_option(request, "--random-input-len", request.isl),
            client.cell_option(request, "--random-output-len", request.osl),
            client.param_option(settings, "random_range_ratio"),
            client.cell_option(request, "--max-concurrency", request.concurrency),
            client.param_option(settings, "request_rate"),
            client.seed_option(request),
            option("--output-file", artifact, origins=[("params", "result_filename")]),
            *client.goodput_options(request),
        ),
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
    parameters.check_dataset(settings, ("random", "random-ids"), found)


def _client_env(settings: Settings) -> tuple[EnvEntry, ...]:
    """The images hold SGLang as a source tree."""
    return (*base_env(settings), literal("PYTHONPATH", "/sgl-workspace/sglang/python"))


def _artifact(settings: Settings) -> tuple[str, str]:
    return f"{client.stem(settings)}.jsonl", "sglang"


def _lengths(length: int, ratio: float) -> LengthRange:
    """[L*r, L], the lower end rounded down but never 0 (`compute_random_lens`)."""
    return LengthRange(max(int(length * ratio), 1), length)


def _produces(settings: Settings, metric: str) -> bool:
    """A fixed set, whatever percentiles were asked for."""
    if metric == "goodput":
        return any(run.combo.goodput_slo for run in settings.runs)
    statistic, _, rest = metric.partition("_")
    latency = latency_of(metric)
    if latency is None or not rest.startswith(latency):
        return True
    return statistic in _STATISTICS or (statistic == "p95" and latency == "itl")


_NO_FLAG = "SGLang's client has no flag for it"
_ALWAYS = "SGLang's client is always given backend sglang and 127.0.0.1"


def _unused(settings: Settings) -> Mapping[str, str]:
    silent = ("percentile_metrics", "metric_percentiles", "burstiness", "random_prefix_len", "tokenizer_mode")
    return client.ineffective(
        settings, {**dict.fromkeys(silent, _NO_FLAG), "backend": _ALWAYS, "base_url": _ALWAYS}
    )


def _data_parallel(settings: Settings) -> int:
    """With DP attention the replicas share the tensor-parallel GPUs, so they add none."""
    given = _server_given(settings)
    if any(entry.flag is not None and entry.flag.name == "enable-dp-attention" for entry in given):
        return 1
    return count_of(given, "dp-size") or 1


def _speculative(settings: Settings) -> bool:
    given = _server_given(settings)
    return any(entry.flag is not None and entry.flag.name == "speculative-algorithm" for entry in given)


DRIVER = Driver(
    name="sglang",
    arguments="sglang_args",
    check=_check,
    server=_server,
    server_env=_server_env,
    client=_client,
    client_env=_client_env,
    artifact=_artifact,
    lengths=_lengths,
    percentiles=lambda _settings, _gated: "",
    produces=_produces,
    unused=_unused,
    data_parallel=_data_parallel,
    speculative=_speculative,
    health_path="/health",
    strict_length=True,
    multinode_is_pipeline=True,
)
