"""The serving dialect as a table: where each of its keys goes in the flat one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .diagnostics import Diagnostics
from .documents import Document, JsonPath, Origin, dotted
from .drivers import SERVING_ARGUMENTS, SERVING_BACKENDS

__all__ = ["FABRIC_VARIABLES", "flatten_serving"]

_P, _R = ("params",), ("roles", "server")

# Later rows win where two name one target: the proxy port over port_no, context_length over max_model_length.
_TABLE: tuple[tuple[JsonPath, JsonPath], ...] = (
    (("server_params", "tensor_parallelism"), (*_P, "tensor_parallelism")),
    (("server_params", "pipeline_parallelism"), (*_P, "pipeline_parallel_size")),
    (("server_params", "nnodes"), (*_P, "nnodes")),
    (("server_params", "master_addr"), (*_P, "master_addr")),
    (("server_params", "dist_init_port"), (*_P, "master_port")),
    (("server_params", "master_port"), (*_P, "master_port")),
    (("server_params", "port_no"), (*_P, "port_no")),
    (("server_params", "proxy_router_serv_port"), (*_P, "port_no")),
    (("benchmark_params", "max_model_length"), (*_P, "max_model_length")),
    (("server_params", "max_model_length"), (*_P, "max_model_length")),
    (("server_params", "context_length"), (*_P, "max_model_length")),
    (("server_params", "ib_hca_devices"), (*_R, "ib_hca_devices")),
    (("server_params", "ib_netdev"), (*_R, "ib_netdev")),
    (("server_params", "memory_fraction"), (*_R, "memory_fraction")),
    (("server_params", "log_level"), (*_R, "log_level")),
    *((("server_params", name), (*_P, name)) for name in (
        "server_precheck_wait_s", "server_warmup_wait_s", "server_poll_count", "server_poll_wait_time",
    )),
    (("benchmark_params", "data_set_name"), (*_P, "dataset_name")),
    *((("benchmark_params", name), (*_P, name)) for name in (
        "num_prompts", "random_range_ratio", "metric_percentiles", "client_initial_wait_s", "client_poll_count",
        "client_poll_wait_time", "reuse_server_across_sweep", "scaling_baseline_output_throughput",
    )),
)  # fmt: skip

# Known keys that change nothing here, and why.
NO_EFFECT: tuple[tuple[JsonPath, str], ...] = (
    (("server_params", "max_concurrency"), "each cell states its concurrency"),
    (("server_params", "tokenizer_mode"), "neither the server nor the client is given it in this dialect"),
    (("server_params", "inference_poll_iterations"), "nothing polls: deadlines come from the waits"),
    (("server_params", "server_node_list"), "the cluster file lists the nodes"),
    (("server_params", "benchmark_serv_node"), "the client runs on the head"),
    (("benchmark_params", "backend"), "the driver decides"),
    (("benchmark_params", "peak_gpu_tflops"), "no metric uses it"),
    (("benchmark_params", "model_num_params"), "no metric uses it"),
    (("hca_id_prefix",), "fabric discovery takes every device that the kernel lists"),
)

_DEFAULTS: tuple[tuple[JsonPath, object], ...] = (
    ((*_P, "client_poll_count"), 80),
    ((*_P, "reuse_server_across_sweep"), True),
    (("enforce_thresholds",), False),
    (("functional", "api_smoke"), True),
    (("functional", "health_check"), True),
)
# Variables that fabric discovery sets, and the field that is to be used instead.
FABRIC_VARIABLES = {
    "NCCL_SOCKET_IFNAME": "ib_netdev",
    "GLOO_SOCKET_IFNAME": "ib_netdev",
    "TP_SOCKET_IFNAME": "ib_netdev",
    "NCCL_IB_HCA": "ib_hca_devices",
}
# What a user of this dialect calls the keys of the flat one.
_NAMES: Mapping[JsonPath, str] = {
    (*_P, "driver"): "server_params.backend",
    (*_R, "env"): "server_params.env",
    **{target: dotted(source) for source, target in _TABLE},
    **{(*_R, flat): f"server_params.{name}" for name, flat in SERVING_ARGUMENTS.items()},
}
_MOVED = ("server_params", "benchmark_params", "hca_id_prefix")


def flatten_serving(document: Document, found: Diagnostics) -> Document:
    """The same configuration in the flat dialect. Origins keep pointing at what was written."""
    top = document.value
    assert isinstance(top, dict)
    out: dict[str, object] = {key: value for key, value in top.items() if key not in _MOVED}
    origins = dict(document.origins)
    names = dict(_NAMES)
    for source, target in _moves(document):
        _put(out, target, document.get(*source))
        origins[target] = document.origin(source)
        names[target] = dotted(source)
    _move_driver(document, out, origins)
    _move_env(document, out, origins, found)
    if document.get("model", "id") is None and document.get("server_params", "model") is not None:
        _put(out, ("model", "id"), document.get("server_params", "model"))
        origins[("model", "id")] = document.origin(("server_params", "model"))
    for target, value in _DEFAULTS:
        if Document(out, {}).get(*target) is None:
            _put(out, target, value)
            origins[target] = Origin("default")
    for path, reason in NO_EFFECT:
        if document.get(*path) is not None:
            found.note("A211", f"{path[-1]} has no effect: {reason}", document.span(path, key=True))
    return Document(out, origins, names)


def _moves(document: Document) -> Iterator[tuple[JsonPath, JsonPath]]:
    for source, target in _TABLE:
        if document.get(*source) is not None:
            yield source, target
    for name, argument in SERVING_ARGUMENTS.items():
        if document.get("server_params", name) is not None:
            yield ("server_params", name), (*_R, argument)


def _move_driver(document: Document, out: dict[str, object], origins: dict[JsonPath, Origin]) -> None:
    backend = document.get("server_params", "backend")
    if isinstance(backend, str):
        _put(out, (*_P, "driver"), SERVING_BACKENDS.get(backend, backend))
        origins[(*_P, "driver")] = document.origin(("server_params", "backend"))


def _move_env(
    document: Document, out: dict[str, object], origins: dict[JsonPath, Origin], found: Diagnostics
) -> None:
    """`server_params.env`, then the container's on top; the container's leaves `runtime.args`.

    Shipped files of this dialect carry fabric variables: they are left out, with a warning.
    """
    for path in (("server_params", "env"), ("container", "runtime", "args", "env")):
        env = document.get(*path)
        if not isinstance(env, dict):
            continue
        for name, value in env.items():
            if name in FABRIC_VARIABLES:
                span = document.span((*path, name), key=True)
                hint = f"write server_params.{FABRIC_VARIABLES[name]} instead"
                found.warning("A552", f"{name} is left out: fabric discovery sets it", span, hint)
                continue
            _put(out, (*_R, "env", name), value)
            origins[(*_R, "env", name)] = document.origin((*path, name))
    args = document.get("container", "runtime", "args")
    if isinstance(args, dict) and "env" in args:
        _put(out, ("container", "runtime", "args"), {key: value for key, value in args.items() if key != "env"})


def _put(out: dict[str, object], path: JsonPath, value: object) -> None:
    """Set a value in a tree of our own, copying each inherited object on the way."""
    here = out
    for step in path[:-1]:
        inner = here.get(str(step))
        copied = dict(inner) if isinstance(inner, dict) else {}
        here[str(step)] = copied
        here = copied
    here[str(path[-1])] = value
