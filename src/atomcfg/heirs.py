"""What became of keys that older files, or the other dialect, call something else."""

from __future__ import annotations

__all__ = ["heir_of"]

# (key of the object, key in it; "" is the top level) -> its name here, and what to know about it.
_HEIRS: dict[tuple[str, str], tuple[str, str]] = {
    ("", "container_image"): ("container.image", ""),
    ("", "container_name"): ("container.name", ""),
    ("", "thresholds"): ("threshold_json", "it names the threshold file"),
    ("", "threshold_file"): ("threshold_json", ""),
    ("", "active_profile"): ("default_profile", "--config_profile chooses another one"),
    ("", "profile"): ("default_profile", "--config_profile chooses another one"),
    ("container", "launch"): ("lifetime", '"per_run" for true, "no_launch" for false'),
    ("container", "enabled"): ("orchestrator", 'in the cluster file: "container" or "baremetal"'),
    ("params", "tensor_parallel_size"): ("tensor_parallelism", ""),
    ("params", "pipeline_parallelism"): ("pipeline_parallel_size", ""),
    ("params", "data_set_name"): ("dataset_name", ""),
    ("params", "max_model_len"): ("max_model_length", ""),
    ("params", "context_length"): ("max_model_length", ""),
    ("params", "port"): ("port_no", ""),
    ("params", "proxy_router_serv_port"): ("port_no", ""),
    ("params", "dist_init_port"): ("master_port", ""),
    ("params", "max_concurrency"): ("sweep.runs[].concurrency", ""),
    ("server", "add_flags"): ("sglang_args", ""),
    ("server", "server_args"): ("atom_args", "or serve_args, sglang_args: each driver has its own"),
    ("server_params", "tensor_parallel_size"): ("tensor_parallelism", ""),
    ("server_params", "pipeline_parallel_size"): ("pipeline_parallelism", ""),
    ("server_params", "driver"): ("backend", ""),
    ("server_params", "sglang_args"): ("add_flags", ""),
    ("server_params", "max_model_len"): ("context_length", ""),
    ("benchmark_params", "dataset_name"): ("data_set_name", ""),
}


def heir_of(parent: str, key: str) -> tuple[str, str] | None:
    """The name that `key` of the object `parent` ("" is the top level) has here, and a remark; None if unknown."""
    return _HEIRS.get((parent, key))
