"""One flat configuration in the two other dialects, for tests that a rule holds in all three."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atomcfg.defaults import PARAMS

__all__ = ["DIALECTS", "in_dialect"]

DIALECTS = ("flat", "profiles", "serving")

_TOP_ONLY = ("$schema", "schema_version", "framework", "paths", "model")  # the others go into the profile
_SERVER = {
    "driver": "backend", "tensor_parallelism": "tensor_parallelism",
    "pipeline_parallel_size": "pipeline_parallelism", "nnodes": "nnodes", "master_addr": "master_addr",
    "master_port": "master_port", "port_no": "port_no",
    "max_model_length": "context_length", "server_precheck_wait_s": "server_precheck_wait_s",
    "server_warmup_wait_s": "server_warmup_wait_s", "server_poll_count": "server_poll_count",
    "server_poll_wait_time": "server_poll_wait_time",
}  # fmt: skip
_CLIENT = {
    "dataset_name": "data_set_name", "num_prompts": "num_prompts", "random_range_ratio": "random_range_ratio",
    "metric_percentiles": "metric_percentiles", "client_initial_wait_s": "client_initial_wait_s",
    "client_poll_count": "client_poll_count", "client_poll_wait_time": "client_poll_wait_time",
    "reuse_server_across_sweep": "reuse_server_across_sweep",
    "scaling_baseline_output_throughput": "scaling_baseline_output_throughput",
}  # fmt: skip
_ROLE = {"sglang_args": "add_flags"}


def in_dialect(config: Mapping[str, Any], dialect: str) -> dict[str, Any] | None:
    """The same job in a dialect; None where it cannot be said there."""
    if dialect == "flat":
        return dict(config)
    return _profiles(config) if dialect == "profiles" else _serving(config)


def _profiles(config: Mapping[str, Any]) -> dict[str, Any]:
    top = {key: value for key, value in config.items() if key in _TOP_ONLY}
    if "schema_version" in top:
        top["schema_version"] = 3 - top["schema_version"]
    body = {key: value for key, value in config.items() if key not in _TOP_ONLY}
    return {**top, "profiles": {"perf": body}}


def _serving(config: Mapping[str, Any]) -> dict[str, Any] | None:
    params, roles = config.get("params", {}), config.get("roles", {})
    if not isinstance(params, dict) or not isinstance(roles, dict) or params.get("driver") == "vllm":
        return None
    if any(name not in (*_SERVER, *_CLIENT) for name in params if name in (*PARAMS, "bench_extra_args")):
        return None
    role = roles.get("server", {})
    if set(roles) - {"server"} or not isinstance(role, dict) or "add_flags" in role:
        return None
    server = {_SERVER.get(name, name): value for name, value in params.items() if name not in _CLIENT}
    server |= {_ROLE.get(name, name): value for name, value in role.items()}
    client = {_CLIENT[name]: value for name, value in params.items() if name in _CLIENT}
    made = {key: value for key, value in config.items() if key not in ("params", "roles")}
    made.setdefault("enforce_thresholds", True)
    made.setdefault("functional", {"api_smoke": False, "health_check": False})
    return {**made, "server_params": server, "benchmark_params": client}
