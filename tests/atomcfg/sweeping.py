"""A large sweep: a flat config, and a threshold file that bounds every gated metric of each cell."""

from __future__ import annotations

import json
from typing import Any

from atomcfg import Source, Sources
from atomcfg.metrics import GATED, METRICS

from .compiling import DATA, cluster


def sweep(cells: int) -> Sources:
    """What is compiled: `cells` runs of 100 concurrencies each, 25 specs a cell."""
    config = json.loads((DATA / "cvs" / "mi3xx_atom_qwen3.5-397b-a17b_fp8_single.json").read_text("utf-8"))
    for key in ("sweeps", "runs"):
        config.pop(key)
    shapes = [{"name": f"c{index}", "isl": 512 + index, "osl": 512} for index in range(-(-cells // 100))]
    runs = [{"combo": f"c{index // 100}", "concurrency": index % 100 + 1} for index in range(cells)]
    config["sweep"] = {"sequence_combinations": shapes, "runs": runs}
    config["threshold_json"], config["enforce_thresholds"] = "t_threshold.json", True
    config["container"]["image"] = "registry.example/atom:1"
    config["container"]["runtime"]["args"]["volumes"] = ["/home/tester:/home/tester", "/data/models:/models:ro"]
    thresholds = {
        f"ISL={512 + index // 100},OSL=512,TP=8,PP=1,CONC={index % 100 + 1}": {
            metric: _bound(metric, index) for metric in GATED
        }
        for index in range(cells)
    }
    return Sources(
        Source("config", "mi3xx_atom_sweep.json", json.dumps(config, indent=2).encode()),
        cluster=Source("cluster", "cluster.json", json.dumps(cluster()).encode()),
        thresholds=(
            Source("threshold", "t_threshold.json", json.dumps(thresholds, indent=2).encode(), "t_threshold.json"),
        ),
        siblings=("t_threshold.json",),
    )


def _bound(metric: str, index: int) -> dict[str, Any]:
    unit = METRICS[metric].unit
    if unit == "tok/s":
        return {"kind": "min_tok_s", "value": 100 + index}
    if unit == "ms":
        return {"kind": "max_ms", "value": 5000 + index}
    return {"kind": "min", "value": 1} if metric == "success_rate" else {"kind": "max", "value": 0}
