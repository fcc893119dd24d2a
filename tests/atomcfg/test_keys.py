"""No accepted key is dead: each one changes the plan, or stands in the tables of keys without effect.

`CHANGES` gives every key of every schema another value. A key that a schema gains has to be added here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from atomcfg.metrics import GATED
from atomcfg.paths import parse_path
from atomcfg.schemas import load_schema
from atomcfg.serving import NO_EFFECT

from .compiling import cluster, compile_document
from .dialects import in_dialect

KEYS = ("ISL=1024,OSL=512,TP=8,PP=1,CONC=16", "ISL=128,OSL=64,TP=8,PP=1,CONC=4")


def bounds(floor: int) -> dict[str, Any]:
    """A threshold table for both cells, complete enough to be enforced."""
    specs: dict[str, Any] = {metric: {"kind": "info"} for metric in GATED}
    return dict.fromkeys(KEYS, specs | {"output_throughput": {"kind": "min_tok_s", "value": floor}})


THRESHOLDS = {
    "one_threshold.json": {"profiles": {"perf": bounds(10), "other": bounds(20)}},
    "two_threshold.json": bounds(30),
}
COMMON: dict[str, Any] = {
    "enforce_thresholds": False,
    "threshold_json": "one_threshold.json",
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model", "precision": "fp8"},
    "container": {
        "image": "a:b",
        "runtime": {"args": {"volumes": ["/h:/h", "/x:/x", "/m:/m"], "env": {"X": "1"}}},
    },
    "sweep": {
        "sequence_combinations": [
            {"name": "c", "isl": 1024, "osl": 512, "goodput_slo": {"ttft_ms": 100}},
            {"name": "d", "isl": 128, "osl": 64},
        ],
        "runs": [{"combo": "c", "concurrency": 16}, {"combo": "d", "concurrency": 4}],
    },
    "accuracy": {"tasks": [{"id": "g", "task": "gsm8k"}]},
    "long_context_accuracy": {"cells": [{"id": "n", "isl": 1024}]},
    "mtp_quality": {"enabled": True},
    "quant_parity": {"enabled": True},
}
KEYED = {key: value for key, value in COMMON.items() if key != "sweep"} | {"sweeps": {key: {} for key in KEYS}}
ATOM = {"roles": {"server": {"atom_args": []}}, "params": {"driver": "atom"}}
SGLANG = {"roles": {"server": {"sglang_args": []}}, "params": {"driver": "sglang"}}
VLLM = {"roles": {"server": {"serve_args": {}}}, "params": {"driver": "vllm_atom"}}
PLAIN_VLLM = {"roles": {"server": {"serve_args": {}}}, "params": {"driver": "vllm"}}
WIDE = {
    "roles": {"server": {"serve_args": {}}},
    "params": {"driver": "vllm_atom", "nnodes": 2, "pipeline_parallel_size": 2},
}
JOBS = (ATOM, SGLANG, VLLM, PLAIN_VLLM, WIDE)
FLAT = (*({**COMMON, **job} for job in JOBS), {**KEYED, **ATOM})

ARGUMENTS = {
    "network": "host", "ipc": "host", "privileged": True, "shm_size": "8G", "volumes": ["/h:/h", "/y:/m"],
    "devices": ["/dev/kfd"], "cap_add": ["SYS_PTRACE"], "security_opt": ["seccomp=unconfined"],
    "group_add": ["video"], "ulimit": ["memlock=-1"], "env": {"X": "2"}, "pids_limit": 9, "user": "1000",
    "workdir": "/w", "entrypoint": "bash", "extra_args": ["--tty"],
}  # fmt: skip
BLOCKS = {
    "gpu_arch": "mi355x",
    "enforce_thresholds": True,
    "threshold_json": "two_threshold.json",
    "paths.shared_fs": "/x",
    "paths.models_dir": "/x/m",
    "paths.log_dir": "/x/L",
    "paths.hf_token_file": "/x/t",
    "model.id": "org/other",
    "model.remote": 1,
    "model.precision": "mxfp4",
    "container.lifetime": "persistent",
    "container.name": "other",
    "container.image": "c:d",
    "container.runtime.name": "podman",
    **{f"container.runtime.args.{name}": value for name, value in ARGUMENTS.items()},
    "sweep.sequence_combinations[0].name": "e",
    "sweep.sequence_combinations[0].isl": 1025,
    "sweep.sequence_combinations[0].osl": 513,
    "sweep.sequence_combinations[0].goodput_slo.ttft_ms": 200,
    "sweep.sequence_combinations[0].goodput_slo.tpot_ms": 20,
    "sweep.sequence_combinations[0].goodput_slo.e2el_ms": 2000,
    "sweep.runs[0].combo": "d",
    "sweep.runs[0].concurrency": 17,
    "sweeps": {"ISL=1025,OSL=512,TP=8,PP=1,CONC=16": {}},
    "runs": [KEYS[1]],
    "functional.api_smoke": True,
    "functional.health_check": True,
    "platform.dmesg_scan": True,
    "platform.gpu_metrics_poll": True,
    "accuracy.tasks[0].id": "h",
    "accuracy.tasks[0].task": "mmlu",
    "accuracy.tasks[0].num_fewshot": 3,
    "accuracy.tasks[0].num_concurrent": 9,
    "accuracy.tasks[0].apply_chat_template": True,
    "accuracy.tasks[0].metadata": {"max_length": 9},
    "accuracy.tasks[0].include_path": "/tasks",
    "accuracy.tasks[0].gen_kwargs": {"temperature": 0},
    "accuracy.tasks[0].limit": 9,
    "long_context_accuracy.cells[0].id": "o",
    "long_context_accuracy.cells[0].isl": 1025,
    "long_context_accuracy.cells[0].osl": 33,
    "long_context_accuracy.cells[0].num_prompts": 9,
    "long_context_accuracy.cells[0].seed": 43,
    "mtp_quality.enabled": False,
    "mtp_quality.chat_template_prompt": "Hello",
    "mtp_quality.chat_template_expected_sha256": "0" * 64,
    "quant_parity.enabled": False,
    "quant_parity.probe_prompt": "Hello",
    "quant_parity.reference_config_stem": "mi300x_atom_other",
}
WAITS = {
    f"{side}_{name}": 7
    for side, names in {
        "server": ("precheck_wait_s", "warmup_wait_s", "poll_count", "poll_wait_time"),
        "client": ("initial_wait_s", "poll_count", "poll_wait_time"),
    }.items()
    for name in names
}
PARAMS = {
    "driver": "vllm", "backend": "openai", "base_url": "http://127.0.0.1", "port_no": 8001,
    "dataset_name": "sonnet", "request_rate": 5, "random_range_ratio": 0.5, "random_prefix_len": 8,
    "burstiness": 0.5, "seed": 1,
    "tokenizer_mode": "slow", "percentile_metrics": "ttft,tpot,itl", "metric_percentiles": "90,99",
    "num_prompts": 99, "max_model_length": 16384, "tensor_parallelism": 4, "pipeline_parallel_size": 4, "nnodes": 2,
    "master_addr": "10.0.0.2", "master_port": 29502, "bench_max_failed_requests": 1,
    "reuse_server_across_sweep": True, "result_filename": "out", "scaling_baseline_output_throughput": 5,
    "bench_extra_args": "--disable-tqdm", **WAITS,
}  # fmt: skip
ROLE = {
    "atom_args": ["--enforce-eager"], "serve_args": {"enforce-eager": False}, "env": {"Y": "3"},
    "sglang_args": ["--disable-cuda-graph"], "ib_hca_devices": ["mlx5_0"], "ib_netdev": "ens1",
}  # fmt: skip
SERVER = {
    "backend": "sglang", "model": "org/other", "tensor_parallelism": 4, "pipeline_parallelism": 4, "nnodes": 2,
    "master_addr": "10.0.0.2", "master_port": 29502, "dist_init_port": 29503, "port_no": 8001,
    "proxy_router_serv_port": 8002, "context_length": 16384, "max_model_length": 16384,
    "ib_hca_devices": ["mlx5_0"], "ib_netdev": "ens1", "serve_args": {"enforce-eager": False},
    "add_flags": ["--disable-cuda-graph"], "atom_args": ["--enforce-eager"], "env": {"Y": "3"},
    "memory_fraction": 0.5, "log_level": "debug",
    **{name: value for name, value in WAITS.items() if name.startswith("server")},
}  # fmt: skip
CLIENT = {
    "data_set_name": "sonnet", "num_prompts": 99, "random_range_ratio": 0.5, "metric_percentiles": "90,99",
    "max_model_length": 16384, "reuse_server_across_sweep": False, "scaling_baseline_output_throughput": 5,
    **{name: value for name, value in WAITS.items() if name.startswith("client")},
}  # fmt: skip
CHANGES = {
    "flat": {
        **BLOCKS,
        **{f"params.{name}": value for name, value in PARAMS.items()},
        **{f"roles.server.{name}": value for name, value in ROLE.items()},
    },
    "serving": {
        **BLOCKS,
        **{f"server_params.{name}": value for name, value in SERVER.items()},
        **{f"benchmark_params.{name}": value for name, value in CLIENT.items()},
    },
}
CHANGES["profiles"] = {f"profiles.perf.{path}": value for path, value in CHANGES["flat"].items()}
CHANGES["profiles"] |= CHANGES["flat"] | {"profiles.perf.threshold_profile": "other", "default_profile": "two"}
CLUSTER = {
    "orchestrator": "baremetal", "username": "bob", "priv_key_file": "/k", "ssh_port": 2222,
    "host_key_policy": "accept-new", "head_node_dict.mgmt_ip": "10.0.0.2", "env_vars": {"Y": "1"},
    "node_dict": {"10.0.0.3": {}, "10.0.0.1": {}}, "container.lifetime": "no_launch", "container.name": "x",
    "container.image": "x:y", "container.runtime.name": "podman",
    **{f"container.runtime.args.{name}": value for name, value in ARGUMENTS.items()},
}  # fmt: skip
NOWHERE = {  # keys that say something about the file, or are only shown
    "$schema", "schema_version", "framework",
    "run_card.atom_image_pin", "run_card.upstream_run_url", "run_card.notes",
}  # fmt: skip


def keys(schema: Mapping[str, Any], base: str, path: str = "") -> Iterator[str]:
    """Every key that a schema accepts, lists as their first member, profiles as `perf`."""
    while "$ref" in schema:
        base, schema = follow(base, schema["$ref"])
    if "properties" not in schema and "items" in schema:
        inner = list(keys(schema["items"], base, f"{path}[0]"))
        yield from inner if inner != [f"{path}[0]"] else [path]
    elif schema.get("properties"):
        for name, part in schema["properties"].items():
            yield from keys(part, base, f"{path}.{name}" if path else name)
    elif path == "profiles":
        yield from keys({"$ref": "#/$defs/profile"}, base, "profiles.perf")
    else:
        yield path


def follow(base: str, reference: str) -> tuple[str, Any]:
    file, _, pointer = reference.partition("#")
    base = file.removesuffix(".schema.json") or base
    here: Any = load_schema(base)
    for step in pointer.split("/")[1:]:
        here = here[step]
    return base, here


def without_effect(path: str) -> bool:
    ends = {".".join(map(str, steps)) for steps, _ in NO_EFFECT}
    return path in ends or path.removeprefix("profiles.perf.") in NOWHERE


def put(value: Any, path: str, new: Any) -> Any:
    """`value` with `new` at a path; objects on the way are made."""
    made = here = deepcopy(value)
    steps = parse_path(path)
    assert steps is not None
    for step in steps[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else here[step]
    here[steps[-1]] = new
    return made


@cache
def digest(config: str, nodes: str) -> str | None:
    result = compile_document(config, thresholds=THRESHOLDS, cluster_file=nodes)
    return result.plan.digest if result.plan else None


def digest_of(config: Any, nodes: Any = None) -> str | None:
    params = config.get("params", {}) | config.get("server_params", {})
    count = max(params.get("nnodes", 1), *(body.get("params", {}).get("nnodes", 1) for body in profiles(config)))
    return digest(json.dumps(config), json.dumps(nodes or cluster(count)))


def profiles(config: Any) -> list[Any]:
    return [{}, *config.get("profiles", {}).values()]


def jobs(dialect: str) -> Iterator[dict[str, Any]]:
    """Configurations of a dialect that compile, and in which keys may be changed."""
    for flat in FLAT:
        made = in_dialect(flat, dialect)
        if made is not None:
            yield made
            if dialect == "profiles":
                two = {**flat, "profiles": {"perf": {}, "two": {"params": {"num_prompts": 77}}}}
                yield from (two, put(two, "profiles.perf.sweep", flat.get("sweep", {})))
            if dialect == "serving":
                yield put(put(made, "model", {}), "server_params.model", "org/model")
                for driver, argument in (("atom", "atom_args"), ("vllm", "serve_args")):
                    yield put(put(made, "server_params.backend", driver), f"server_params.{argument}", {})


@pytest.mark.parametrize("dialect", CHANGES)
def test_every_key_is_here(dialect: str) -> None:
    accepted = set(keys(load_schema(f"config-{dialect}"), f"config-{dialect}"))
    assert {path for path in accepted if not without_effect(path)} == set(CHANGES[dialect])


@pytest.mark.parametrize(
    ("dialect", "path"), [(dialect, path) for dialect, changes in CHANGES.items() for path in changes]
)
def test_a_key_changes_the_plan(dialect: str, path: str) -> None:
    for config in jobs(dialect):
        changed = put(config, path, CHANGES[dialect][path])
        if path.endswith("sequence_combinations[0].name"):
            changed = put(changed, path.replace("sequence_combinations[0].name", "runs[0].combo"), "e")
        before, after = digest_of(config), digest_of(changed)
        if before and after and before != after:
            return
    pytest.fail(f"{path} changes no plan")


def test_every_key_of_the_cluster_file_is_here() -> None:
    accepted = set(keys(load_schema("cluster"), "cluster"))
    assert accepted - {"$schema", "hca_id_prefix"} == set(CLUSTER)


@pytest.mark.parametrize("path", CLUSTER)
def test_a_key_of_the_cluster_file_changes_the_plan(path: str) -> None:
    """Keys of its container count where the config has none of its own."""
    config = put(FLAT[-2], "container", {})
    nodes = cluster(2, container={"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"]}}})
    before, after = digest_of(config, nodes), digest_of(config, put(nodes, path, CLUSTER[path]))
    assert before
    assert after
    assert before != after
