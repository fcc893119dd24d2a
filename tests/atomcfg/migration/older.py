"""The older pairs, before and after their migration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import atomcfg
from atomcfg import Plan, Source, Sources
from atomcfg.migration import Migration, migrate

from ..compiling import DATA, cluster  # noqa: TID252  # they lie one folder up

FOLDER = DATA / "cvs-older"
CONFIGS = sorted(path.name for path in FOLDER.glob("*.json") if not path.name.endswith("threshold.json"))
CELLS: dict[str, dict[str, Any]] = json.loads((DATA / "oracle-older-cells.json").read_text("utf-8"))
LAB = b"""
[values]
head-node-ip = "10.0.0.1"

[set]
"container.image" = "rocm/atom-dev:latest"
"container.name" = "atom_lab"
"""
TOO_LONG = ("niah_8k",)  # 8192 + 32 tokens in a context of 8192: not run here, a failure there
SIBLINGS = {
    "perf": "mi300x_atom_deepseek-r1_fp8_single.json",
    "accuracy": "mi300x_atom_deepseek-r1_fp8_accuracy.json",
    "baseline_sweep": "mi300x_atom_deepseek-r1_fp8_baseline_sweep.json",
    "mtp3": "mi300x_atom_deepseek-r1_fp8_mtp3.json",
    "mtp3_accuracy": "mi300x_atom_deepseek-r1_fp8_mtp3_accuracy.json",
}


def originals() -> dict[str, str]:
    """The older files by name; a new dictionary."""
    return {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.json"))}


def pair(name: str, texts: Mapping[str, str]) -> Sources:
    """A config with the threshold files of `texts`, as they lie in one folder."""
    siblings = tuple(key for key in texts if key.endswith("threshold.json"))
    table = json.loads(texts[name])["threshold_json"]
    thresholds = (Source("threshold", table, texts[table].encode(), table),)
    return Sources(Source("config", name, texts[name].encode()), thresholds=thresholds, siblings=siblings)


def migrated(names: Iterable[str], texts: Mapping[str, str] | None = None, **options: bool) -> Migration:
    """The migration of some configs of a folder (the older ones)."""
    folder = originals() if texts is None else texts
    return migrate([pair(name, folder) for name in names], user="tester", **options)


def new_texts(made: Migration) -> dict[str, str]:
    """The files of a migration that found no fault, by name."""
    assert made.diagnostics == ()
    return {file.name: file.text for file in made.files}


def compiled(name: str, texts: Mapping[str, str], profile: str | None = None) -> Plan:
    """The plan of a config of a folder, with what a lab supplies."""
    nodes = int(json.loads(texts[name]).get("params", {}).get("nnodes", 1))
    sources = pair(name, texts)
    lab = LAB if nodes > 1 else LAB.replace(b'head-node-ip = "10.0.0.1"', b"")
    made = Sources(
        config=sources.config,
        cluster=Source("cluster", "cluster.json", json.dumps(cluster(nodes)).encode()),
        lab=Source("lab", "lab.toml", lab),
        thresholds=sources.thresholds,
        siblings=sources.siblings,
    )
    result = atomcfg.compile(made, profile=profile, user="tester")
    assert result.plan is not None, [item.summary for item in result.diagnostics]
    return result.plan
