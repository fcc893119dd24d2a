"""What changed in meaning between two plans, told as a person would."""

from __future__ import annotations

from typing import Any

import pytest

from atomcfg import Plan
from atomcfg.difference import Change, differences

from .compiling import cluster, compile_document

KEY = "ISL=1024,OSL=512,TP=8,PP=1,CONC=16"
CONFIG: dict[str, Any] = {
    "enforce_thresholds": False,
    "threshold_json": "t_threshold.json",
    "paths": {"shared_fs": "/h", "models_dir": "/m", "log_dir": "{shared_fs}/L", "hf_token_file": "/h/t"},
    "model": {"id": "org/model"},
    "container": {"image": "a:b", "runtime": {"args": {"volumes": ["/h:/h", "/m:/m"], "network": "host"}}},
    "roles": {"server": {"atom_args": ["--enforce-eager"], "env": {"X": "1", "Y": "1"}}},
    "params": {"driver": "atom"},
    "sweep": {
        "sequence_combinations": [{"name": "c", "isl": 1024, "osl": 512}],
        "runs": [{"combo": "c", "concurrency": 16}],
    },
    "accuracy": {"tasks": [{"id": "g", "task": "gsm8k"}]},
    "long_context_accuracy": {"cells": [{"id": "n", "isl": 1024}]},
    "mtp_quality": {"enabled": True},
    "quant_parity": {"enabled": True},
}
THRESHOLDS: dict[str, Any] = {
    KEY: {
        "output_throughput": {"kind": "within", "value": 100, "tolerance_pct": 5},
        "p99_itl_ms": {"kind": "min_ratio", "value": 2, "reference": "median_itl_ms"},
        "failed": {"kind": "info"},
    },
    "accuracy": {"g": {"gsm8k.exact_match__x": {"kind": "min", "value": 0.9}}},
}


def plan(thresholds: Any = THRESHOLDS, nodes: Any = None, **changes: Any) -> Plan:
    made = {**CONFIG, **changes}
    result = compile_document(made, thresholds={"t_threshold.json": thresholds}, cluster_file=nodes or cluster())
    assert result.plan is not None, [item.summary for item in result.diagnostics]
    return result.plan


def told(before: Plan, after: Plan) -> list[str]:
    """Each change on a line: group, subject, what, before, after."""
    return [
        f"{change.group} | {change.subject} | {change.what} | {change.before} | {change.after}"
        for change in differences(before, after)
    ]


def role(**changes: Any) -> dict[str, Any]:
    return {"roles": {"server": {**CONFIG["roles"]["server"], **changes}}}


def sweep(*runs: tuple[str, int]) -> dict[str, Any]:
    combos = [{"name": name, "isl": isl, "osl": 512} for name, isl in (("c", 1024), ("d", 512))]
    listed = [{"combo": name, "concurrency": concurrency} for name, concurrency in runs]
    return {"sweep": {"sequence_combinations": combos, "runs": listed}}


def test_nothing_changed() -> None:
    assert differences(plan(), plan()) == ()
    assert differences(plan(), plan(_comment="x")) == ()


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (sweep(("c", 16)), sweep(("c", 16), ("d", 4)), [
            "server |  | starts | 1 | 2",
            "cells | d-conc4 |  | None | ISL=512,OSL=512,TP=8,PP=1,CONC=4",
        ]),
        (sweep(("c", 16), ("d", 4)), sweep(("d", 4), ("c", 16)), [
            "cells |  | order | c-conc16 d-conc4 | d-conc4 c-conc16",
        ]),
        (sweep(("c", 16), ("d", 4)), sweep(("c", 16)), [
            "server |  | starts | 2 | 1",
            "cells | d-conc4 |  | ISL=512,OSL=512,TP=8,PP=1,CONC=4 | None",
        ]),
        ({}, role(atom_args=["--enforce-eager", "--max-num-seqs", "8"]), [
            "server | rank 0 | --max-num-seqs | None | 8",
        ]),
        ({}, role(env={"X": "2", "Z": "1"}), [
            "server | rank 0 | $X | 1 | 2", "server | rank 0 | $Y | 1 | None", "server | rank 0 | $Z | None | 1",
            "cells | c-conc16 | $X | 1 | 2",
        ]),
        ({}, {"model": {"id": "org/model", "remote": 1}}, [
            "plan | model | remote | false | true", "plan | secrets | hf_token | /h/t | /h/t (required)",
        ]),
        ({}, {"params": {"driver": "atom", "server_poll_count": 10}}, ["server |  | ready deadline | 3960 | 960"]),
        ({}, {"accuracy": {"tasks": [{"id": "h", "task": "gsm8k"}]}}, [
            "checks | accuracy g |  | present | None", "checks | accuracy h |  | None | present",
        ]),
        ({}, {"quant_parity": {"enabled": False}, "mtp_quality": {"enabled": False}}, [
            "checks | MTP quality |  | present | None", "checks | quant parity |  | present | None",
        ]),
        ({}, {"long_context_accuracy": {"cells": [{"id": "n", "isl": 2048}]}}, [
            "checks | needle n | isl | 1024 | 2048",
        ]),
    ],
)  # fmt: skip
def test_changes(before: dict[str, Any], after: dict[str, Any], lines: list[str]) -> None:
    found = [line for line in told(plan(**before), plan(**after)) if not line.startswith("gates")]
    assert [line for line in found if line in lines] == lines, found


def test_a_container_and_none() -> None:
    bare = cluster(orchestrator="baremetal")
    found = told(plan(), plan(nodes=bare))
    assert "container | container |  | present | None" in found
    assert "container | container |  | None | present" in told(plan(nodes=bare), plan())


def test_nodes() -> None:
    two = plan(nodes=cluster(2), params={"driver": "atom", "nnodes": 2})
    assert "nodes | rank 1 |  | None | present" in told(plan(), two)
    assert "nodes | rank 1 |  | present | None" in told(two, plan())
    assert "nodes | rank 0 | user | tester | bob" in told(plan(), plan(nodes=cluster(username="bob")))


def test_gates() -> None:
    changed = {**THRESHOLDS, KEY: {**THRESHOLDS[KEY], "failed": {"kind": "max", "value": 3}}}
    changed[KEY] = {**changed[KEY], "output_throughput": {"kind": "min_tok_s", "value": 90}}
    del changed[KEY]["p99_itl_ms"]
    assert [line for line in told(plan(), plan(changed)) if line.startswith("gates")] == [
        "gates | c-conc16 | output_throughput | within 100 +-5% | min_tok_s 90",
        "gates | c-conc16 | p99_itl_ms | min_ratio 2 of median_itl_ms | None",
        "gates | c-conc16 | failed | info | max 3",
    ]


def test_a_change_is_a_value() -> None:
    assert Change("a", "b", "c", None, "d") == Change("a", "b", "c", None, "d")
