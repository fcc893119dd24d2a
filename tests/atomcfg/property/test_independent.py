"""Independent faults in one file are all reported in one run: sorted, each once, none because of another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atomcfg.metrics import GATED
from atomcfg.paths import parse_path

from ..compiling import cluster, codes, compile_document  # noqa: TID252  # they lie one folder up
from ..dialects import DIALECTS, in_dialect  # noqa: TID252  # likewise

Fault = tuple[str, object, str]  # path, value there, the code it draws

KEY = "ISL=1024,OSL=1024,TP=8,PP=1,CONC=64"
CONFIG: dict[str, Any] = {
    "enforce_thresholds": True,
    "threshold_json": "t_threshold.json",
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"]}}},
    "roles": {"server": {"atom_args": [], "env": {}}},
    "params": {"driver": "atom", "max_model_length": 4096},
    "sweep": {
        "sequence_combinations": [{"name": "c", "isl": 1024, "osl": 1024}, {"name": "d", "isl": 128, "osl": 64}],
        "runs": [{"combo": "c", "concurrency": 64}],
    },
    "accuracy": {"tasks": [{"id": "g", "task": "gsm8k"}]},
}
THRESHOLDS = {
    KEY: {metric: {"kind": "info"} for metric in GATED},
    "accuracy": {"g": {"gsm8k.exact_match__x": {"kind": "min", "value": 0.9}}},
}
SHAPE: Sequence[Fault] = (
    ("enforce_thresholdz", True, "A201"),
    ("paths.log_dir", 5, "A221"),
    ("model.remote", 2, "A223"),
    ("container.launch", True, "A203"),
    ("container.lifetime", "x", "A223"),
    ("container.runtime.args.volumes[0]", "/h", "A224"),
    ("roles.server.env.A-B", "1", "A206"),
    ("roles.server.env.HF_TOKEN", "secret", "A556"),
    ("params.num_prompts", 0, "A222"),
    ("params.tensor_parallelism", "08", "A224"),
    ("params.nnodes", True, "A221"),
    ("sweep.runs[0].concurrency", 1.5, "A221"),
    ("accuracy.tasks[0]", {"id": "g"}, "A202"),
)
RULES: Sequence[Fault] = (
    ("paths.log_dir", "L", "A317"),
    ("model.id", "a`b", "A428"),
    ("roles.server.ib_netdev", "lo", "A550"),
    ("roles.server.env.NCCL_IB_HCA", "x", "A552"),
    ("roles.server.env.VLLM_ROCM_USE_AITER", "true", "A554"),
    ("params.pipeline_parallel_size", 2, "A608"),
    ("params.master_port", 29502, ""),
    ("roles.server.atom_args", ["-tp", "4"], "A500"),
    ("params.client_initial_wait_s", 0, ""),
)
CELLS: Sequence[Fault] = (
    ("sweep.runs[1]", {"combo": "c", "concurrency": 64}, "A709"),
    ("sweep.runs[2]", {"combo": "d", "concurrency": 2000}, "A712"),
    ("sweep.sequence_combinations[0].isl", 9000, "A710"),
    ("long_context_accuracy", {"cells": [{"id": "n", "isl": 5000}]}, "A713"),
)
BOUNDS: Sequence[Fault] = (
    (f'["{KEY}"].mean_ttft_ms', {"kind": "min", "value": 1}, "A814"),
    (f'["{KEY}"].p99_tftt_ms', {"kind": "max_ms", "value": 1}, "A811"),
    (f'["{KEY}"].success_rate', {"kind": "min", "value": 95}, "A816"),
    (f'["{KEY}"].p99_itl_ms', {"kind": "min_ratio", "value": 1, "reference": "x"}, "A817"),
    (f'["{KEY}"]["client.failed"]', {"kind": "info"}, "A810"),
    (f'["{KEY}"].duration', {"kind": "max", "value": 1}, "A815"),
    (f'["{KEY}"]["mtp.acceptance_rate"]', {"kind": "info"}, "A828"),
    ('["isl=1024,osl=1024,tp=8,conc=64"]', {}, "A806"),
    ('["ISL=1,OSL=1,TP=1,PP=1,CONC=0"]', {}, "A701"),
    ("accuracy.gg", {}, "A818"),
    ('accuracy.g["gsm8k.exact_match"]', {"kind": "info"}, "A820"),
)


def broken(value: Any, faults: Sequence[Fault]) -> Any:
    made = json.loads(json.dumps(value))
    for path, new, _ in faults:
        steps = parse_path(path if path[0] != "[" else f"x{path}")
        assert steps is not None
        steps = steps[1:] if path[0] == "[" else steps
        here = made
        for step in steps[:-1]:
            here = here[step]
        if isinstance(here, list) and isinstance(steps[-1], int) and steps[-1] >= len(here):
            here.append(new)
        else:
            here[steps[-1]] = new
    return made


def expected(faults: Sequence[Fault]) -> list[str]:
    return sorted(code for *_, code in faults if code)


def some(faults: Sequence[Fault]) -> st.SearchStrategy[list[Fault]]:
    """A few of the faults, in the order of the table."""
    return st.sets(st.integers(0, len(faults) - 1), min_size=1).map(
        lambda at: [faults[index] for index in sorted(at)]
    )


@pytest.mark.parametrize("dialect", DIALECTS)
@given(st.one_of(some(SHAPE), some(RULES), some(CELLS)))
def test_faults_of_the_config(dialect: str, faults: list[Fault]) -> None:
    config = in_dialect(broken(CONFIG, faults), dialect)
    if config is None:
        return
    result = compile_document(config, thresholds={"t_threshold.json": THRESHOLDS}, cluster_file=cluster())
    found = [code for code in codes(result) if code not in ("A420", "A821")]
    if dialect == "serving":  # where it is a warning that the variable was left out
        assert all(item.severity.value == "warning" for item in result.diagnostics if item.code == "A552")
    assert sorted(found) == expected(faults)
    places = [(item.span.file, item.span.line, item.span.column) for item in result.diagnostics]
    assert places == sorted(places)


@given(some(BOUNDS))
def test_faults_of_the_thresholds(faults: list[Fault]) -> None:
    thresholds = {"t_threshold.json": broken(THRESHOLDS, faults)}
    result = compile_document(CONFIG, thresholds=thresholds, cluster_file=cluster())
    older = {"A702"} if any(code == "A806" for *_, code in faults) else set()
    assert sorted(code for code in codes(result) if code not in older) == expected(faults)
