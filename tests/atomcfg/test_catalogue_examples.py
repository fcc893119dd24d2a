"""Every bad example of the catalogue draws its code, put where it belongs in files that are otherwise right."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atomcfg.catalogue import CATALOGUE, drivers, migration
from atomcfg.cellkey import looks_like_key
from atomcfg.defaults import PARAMS
from atomcfg.metrics import GATED

from .compiling import cluster, compile_document

KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=128"
WIDE_KEY = KEY.replace("PP=1", "PP=2")
FULL: dict[str, Any] = {metric: {"kind": "info"} for metric in GATED}
BASE: dict[str, Any] = {
    "enforce_thresholds": False,
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "/h/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"]}}},
    "roles": {"server": {"atom_args": []}},
    "params": {"driver": "atom", "max_model_length": 4096},
    "sweep": {
        "sequence_combinations": [{"name": "1k", "isl": 1024, "osl": 1024}],
        "runs": [{"combo": "1k", "concurrency": 128}],
    },
    "accuracy": {"tasks": [{"id": "gsm8k_flex", "task": "gsm8k"}]},
}
VLLM = {"roles": {"server": {"serve_args": {}}}, "params": {"driver": "vllm_atom"}}
WIDE = {**VLLM, "params": {**VLLM["params"], "nnodes": 2, "pipeline_parallel_size": 2}}
SGLANG = {"roles": {"server": {"sglang_args": []}}, "params": {"driver": "sglang"}}
ENFORCED = {"enforce_thresholds": True, "threshold_json": "t_threshold.json"}
# What an example leaves out: where it is read.
AROUND: dict[str, dict[str, Any]] = {
    "A411": {"roles": {"server": {"atom_args": None}}},
    "A412": {"roles": {"server": {}}},
    "A421": {"params": {"driver": None}},
    "A422": {"params": {"driver": None}, "roles": None},
    "A429": {"container": {"image": None}},
    "A555": WIDE,
    "A607": WIDE,
    "A609": VLLM,
    "A610": VLLM,
    "A703": {"sweep": None},
    "A708": {"sweep": None},
    "A801": {"enforce_thresholds": True},
    "A805": {"gpu_arch": "mi355x"},
    "A821": ENFORCED,
    "A822": ENFORCED,
    "A823": {**SGLANG, **ENFORCED},
    "A824": SGLANG,
    "A826": WIDE,
    "A827": WIDE,
}
# Examples told in words, typed as commands, in another dialect, or about a file's name: `bad/` has all of these.
TOLD = {
    "A101", "A102", "A103", "A106", "A107", "A108", "A203", "A211", "A212", "A213", "A214", "A215", "A216", "A217",
    "A301", "A302", "A601", "A901",
}  # fmt: skip
THRESHOLDS = {"A804": {"profiles": {"perf": {KEY: FULL}}}, "A826": {WIDE_KEY: FULL}, "A823": {KEY: FULL}}
EXAMPLES = {
    code: entry.bad
    for code, entry in CATALOGUE.items()
    if entry not in (*drivers.ENTRIES, *migration.ENTRIES) and code not in TOLD
}


def merged(base: Any, over: Any) -> Any:
    """`over` laid on `base`; null takes a key away."""
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    kept = {key: value for key, value in base.items() if key not in over or over[key] is not None}
    return kept | {key: merged(kept.get(key), value) for key, value in over.items() if value is not None}


def placed(piece: dict[str, Any]) -> dict[str, Any]:
    """A piece of a config, with what stands alone in it put where it belongs."""
    made = {key: value for key, value in piece.items() if key not in (*PARAMS, "driver", *MOVED)}
    params = {key: value for key, value in piece.items() if key in (*PARAMS, "driver")}
    made["params"] = made.get("params", {}) | params
    if params.get("driver") == "vllm_atom":
        made["roles"] = {"server": {"serve_args": {}}}
    if "env" in piece:
        made["roles"] = {"server": {"env": piece["env"]}}
    if "volumes" in piece:
        made["container"] = {"runtime": {"args": {"volumes": piece["volumes"]}}}
    if "sequence_combinations" in piece:
        runs = piece.get("runs", [{"combo": "a", "concurrency": 1}])
        made["sweep"] = {"sequence_combinations": piece["sequence_combinations"], "runs": runs}
        made.pop("runs", None)
    if "isl" in piece:
        made["sweep"] = {"sequence_combinations": [{"name": "1k", "isl": piece["isl"], "osl": piece["osl"]}]}
    if "concurrency" in piece:
        made["sweep"] = {"runs": [{"combo": "1k", "concurrency": piece["concurrency"]}]}
    return made


MOVED = ("env", "volumes", "sequence_combinations", "isl", "osl", "concurrency")


def codes_of(code: str, text: str) -> set[str]:
    config, thresholds, nodes, lab = merged(BASE, AROUND.get(code, {})), THRESHOLDS.get(code, {}), cluster(), None
    if config["params"].get("nnodes") == 2:
        nodes = cluster(2)
    key = WIDE_KEY if config["params"].get("nnodes") == 2 else KEY
    if text.startswith("[") and text != "[]":
        lab = text
    elif code in ("A104", "A105", "A109", "A205"):
        return {item.code for item in compile_document(text).diagnostics}
    else:
        piece = json.JSONDecoder().raw_decode(text)[0]
        if {"node_dict", "username"} & set(piece):
            nodes = merged({**nodes, "node_dict": None}, piece) if "node_dict" in piece else merged(nodes, piece)
        elif "kind" in piece:
            thresholds = {key: {"output_throughput": piece}}
        elif any(isinstance(value, dict) and "kind" in value for value in piece.values()):
            at_task = "." in next(iter(piece)) and "scaling" not in text and "client." not in text
            thresholds = {key: FULL, "accuracy": {"gsm8k_flex": piece}} if at_task else {key: piece}
        elif any(looks_like_key(name) or name in ("accuracy", "_calibration") for name in piece):
            thresholds = piece
        else:
            config = merged(config, placed(piece))
    if thresholds and "threshold_json" not in config:
        config["threshold_json"] = "t_threshold.json"
    files = {"a_threshold.json": {}, "b_threshold.json": {}} if code == "A801" else {"t_threshold.json": thresholds}
    if code in ("A802", "A803"):
        files = {}
    result = compile_document(config, thresholds=files, cluster_file=nodes, lab=lab)
    return {item.code for item in result.diagnostics}


@pytest.mark.parametrize("code", EXAMPLES)
def test_bad_example(code: str) -> None:
    assert code in codes_of(code, EXAMPLES[code])
