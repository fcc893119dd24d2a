"""A small config, its thresholds and a cluster file in the current folder, and `atomcfg plan` on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from atomcfg.__main__ import main

__all__ = ["CLUSTER", "CONFIG", "KEY", "NAME", "THRESHOLDS", "plan", "write"]

NAME = "mi300x_atom_model_fp8_single.json"
KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=64"
CONFIG: dict[str, Any] = {
    "enforce_thresholds": False,
    "threshold_json": "one_threshold.json",
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model", "precision": "fp8"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"]}}},
    "roles": {"server": {"atom_args": ["--kv_cache_dtype", "fp8"]}},
    "params": {"driver": "atom", "max_model_length": 4096},
    "sweep": {
        "sequence_combinations": [{"name": "c", "isl": 1024, "osl": 1024}, {"name": "d", "isl": 128, "osl": 64}],
        "runs": [{"combo": "c", "concurrency": 64}, {"combo": "d", "concurrency": 4}],
    },
    "platform": {"dmesg_scan": True},
    "quant_parity": {"enabled": True},
    "accuracy": {"tasks": [{"id": "g", "task": "gsm8k"}]},
    "long_context_accuracy": {"cells": [{"id": "n", "isl": 1024}]},
}
THRESHOLDS = {
    KEY: {
        "output_throughput": {"kind": "min_tok_s", "value": 10},
        "mean_ttft_ms": {"kind": "max_ms", "value": 1e6},
        "failed": {"kind": "info"},
    }
}
CLUSTER = {
    "username": "bob",
    "head_node_dict": {"mgmt_ip": "gpu1"},
    "node_dict": {"gpu1": {"vpc_ip": "10.0.0.1"}},
}


def write(name: str, value: Any) -> None:
    Path(name).write_text(json.dumps(value, indent=2), "utf-8")


def plan(*args: str, output: str = "plan.json") -> int:
    return main(["plan", NAME, "--cluster", "cluster.json", "-o", output, *args])
