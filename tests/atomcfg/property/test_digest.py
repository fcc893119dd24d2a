"""What the order of keys, comments and layout never change: the digest."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atomcfg import Plan

from ..compiling import LAB, cluster, compile_document  # noqa: TID252  # they lie one folder up
from ..dialects import in_dialect  # noqa: TID252  # likewise
from .mutations import CONFIGS, load

pytestmark = pytest.mark.timeout(600)

# The older files lie here without their thresholds, which they need.
COMPLETE = tuple(path for path in CONFIGS if path.parent.name != "cvs-older")
FEW = settings(max_examples=settings.default.max_examples // 5)  # every example compiles a plan
LAB_ALL = LAB.replace("[values]", '[values]\nhead-node-ip = "10.0.0.1"\nchangeme-image = "rocm/atom:1"')
KEYED = {
    "schema_version": 1,
    "framework": "atom",
    "threshold_json": "t_threshold.json",
    "enforce_thresholds": False,
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model", "precision": "mxfp4"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"], "network": "host"}}},
    "roles": {
        "server": {
            "serve_args": {
                "kv-cache-dtype": "fp8",
                "enforce-eager": True,
                "compilation-config": {"mode": 3, "custom_ops": ["x"], "deep": {"b": 1, "a": 2}},
                "gpu-memory-utilization": 0.9,
            },
            "env": {"Z": "1", "A": True, "VLLM_ROCM_USE_AITER": 1},
        }
    },
    "params": {"driver": "vllm_atom", "nnodes": 2, "pipeline_parallel_size": 2, "num_prompts": 500},
    "sweeps": {f"ISL={isl},OSL=128,TP=8,PP=2,CONC={conc}": {} for isl in (1024, 512) for conc in (64, 4)},
    "accuracy": {
        "tasks": [{"id": "g", "task": "gsm8k", "gen_kwargs": {"b": 1, "a": "x"}, "metadata": {"z": 1, "y": 2}}]
    },
    "long_context_accuracy": {"cells": [{"id": "n", "isl": 1024}]},
}
THRESHOLDS = {
    "t_threshold.json": {
        "_calibration": {"arch": "mi300x"},
        **{
            key: {
                "output_throughput": {"kind": "min_tok_s", "value": 10},
                "p90_ttft_ms": {"kind": "max_ms", "value": 9},
            }
            for key in KEYED["sweeps"]  # type: ignore[attr-defined]  # it is a dict
        },
        "accuracy": {"g": {"gsm8k.exact_match__x": {"kind": "min", "value": 0.9}}},
        "long_context_accuracy": {"n": {"accuracy.niah_pass_rate__n": {"kind": "min", "value": 0.9}}},
    }
}
SLO = {"name": "c", "isl": 512, "osl": 128, "goodput_slo": {"ttft_ms": 200, "tpot_ms": 50, "e2el_ms": 900}}
COMBOS = {
    **{key: value for key, value in KEYED.items() if key != "sweeps"},
    "sweep": {"sequence_combinations": [SLO], "runs": [{"combo": "c", "concurrency": 8}]},
}
PROFILES = {
    **{key: value for key, value in KEYED.items() if key not in ("params", "schema_version")},
    "profiles": {
        "perf": {"params": KEYED["params"], "threshold_profile": "x"},
        "other": {},
        "third": {"params": {}},
    },
}
FLAT = (KEYED, {**KEYED, "params": {**KEYED["params"], "reuse_server_across_sweep": True}}, COMBOS)  # type: ignore[dict-item]  # it is a dict
MADE = (*FLAT, PROFILES, *(made for flat in FLAT if (made := in_dialect(flat, "serving"))))


def plan_of(config: Any, thresholds: Any = THRESHOLDS, nodes: Any = None) -> Plan:
    result = compile_document(config, thresholds=thresholds, cluster_file=nodes or cluster(2))
    assert result.plan is not None, [item.summary for item in result.diagnostics]
    return result.plan


@cache
def digest_of(index: int) -> str:
    return plan_of(MADE[index]).digest


@cache
def shipped(path: Path) -> str | None:
    return real(path, path.read_bytes())


def real(path: Path, data: bytes) -> str | None:
    """The digest of a real config, if it compiles as it is."""
    thresholds = {item.name: item.read_bytes() for item in sorted(path.parent.glob("*threshold.json"))}
    nodes = cluster(2 if "distributed" in path.name else 1)
    result = compile_document(data, name=path.name, thresholds=thresholds, cluster_file=nodes, lab=LAB_ALL)
    return result.plan.digest if result.plan else None


def shuffled(value: Any, draw: st.DrawFn) -> Any:
    """The same value with the keys of every object in another order."""
    if isinstance(value, dict):
        items = draw(st.permutations(list(value.items())))
        return {key: shuffled(item, draw) for key, item in items}
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


def commented(value: Any, draw: st.DrawFn) -> Any:
    """The same value with comment keys in some of its objects."""
    if isinstance(value, dict):
        made = {key: commented(item, draw) for key, item in value.items()}
        if draw(st.booleans()):
            made[draw(st.sampled_from(("_", "_comment", "_x y", "_ISL=1")))] = draw(
                st.sampled_from((None, 1, "<changeme>", "{shared_fs}", {"a": [1]}))
            )
        return made
    return [commented(item, draw) for item in value] if isinstance(value, list) else value


SHUFFLED = st.composite(lambda draw, value: shuffled(value, draw))
COMMENTED = st.composite(lambda draw, value: commented(value, draw))


@pytest.mark.parametrize("index", range(len(MADE)))
@FEW
@given(data=st.data())
def test_the_order_of_keys_is_no_meaning(index: int, data: st.DataObject) -> None:
    config, thresholds, nodes = (
        data.draw(SHUFFLED(value)) for value in (MADE[index], THRESHOLDS["t_threshold.json"], cluster(2))
    )
    changed = plan_of(config, {"t_threshold.json": thresholds}, nodes)
    assert changed.digest == digest_of(index)


@pytest.mark.parametrize("index", range(len(MADE)))
@FEW
@given(data=st.data())
def test_comments_are_no_meaning(index: int, data: st.DataObject) -> None:
    config, thresholds, nodes = (
        data.draw(COMMENTED(value)) for value in (MADE[index], THRESHOLDS["t_threshold.json"], cluster(2))
    )
    changed = plan_of(config, {"t_threshold.json": thresholds}, nodes)
    assert changed.digest == digest_of(index)


@pytest.mark.parametrize("change", [shuffled, commented])
@FEW
@given(path=st.sampled_from(COMPLETE), data=st.data())
def test_real_configs(change: Any, path: Path, data: st.DataObject) -> None:
    value = data.draw(st.composite(lambda draw: change(deepcopy(load(path)), draw))())
    assert real(path, json.dumps(value).encode()) == shipped(path)


def test_real_configs_take_part() -> None:
    assert [path.name for path in COMPLETE if shipped(path) is None] == []
    assert len(COMPLETE) >= 14
