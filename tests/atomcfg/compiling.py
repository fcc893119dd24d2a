"""Compile real and made-up inputs in tests, without files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import atomcfg
from atomcfg import Result, Source, Sources

DATA = Path(__file__).parents[1] / "data"
LAB = """\
[values]
changeme-models-mount = "/data/models"

[set]
"container.image" = "rocm/atom-dev:latest"
"""


def cluster(nodes: int = 1, **keys: object) -> dict[str, Any]:
    """A cluster file of `nodes` nodes 10.0.0.1, 10.0.0.2, ... used by `tester`."""
    addresses = [f"10.0.0.{number}" for number in range(1, nodes + 1)]
    return {
        "orchestrator": "container",
        "username": "tester",
        "priv_key_file": "/home/tester/.ssh/id",
        "head_node_dict": {"mgmt_ip": "10.0.0.1"},
        "node_dict": {address: {"vpc_ip": address} for address in addresses},
        **keys,
    }


def compile_document(
    config: object,
    *,
    name: str = "mi300x_atom_model_fp8_single.json",
    thresholds: Mapping[str, object] | None = None,
    cluster_file: object = None,
    lab: str | None = None,
    profile: str | None = None,
    overrides: Mapping[str, object] | None = None,
    environment_profile: str | None = None,
    dry_run: bool = False,
) -> Result:
    """Compile JSON values (or texts, or bytes) as if they were files."""
    made = {key: _data(value) for key, value in (thresholds or {}).items()}
    sources = Sources(
        config=Source("config", name, _data(config)),
        cluster=Source("cluster", "cluster.json", _data(cluster_file if cluster_file is not None else cluster())),
        lab=Source("lab", "lab.toml", lab.encode()) if lab is not None else None,
        thresholds=tuple(Source("threshold", key, data, key) for key, data in made.items()),
        siblings=tuple(made),
    )
    return atomcfg.compile(
        sources,
        profile=profile,
        overrides=overrides,
        environment_profile=environment_profile,
        user="tester",
        dry_run=dry_run,
    )


def compile_shipped(folder: str, name: str, profile: str | None = None, lab: str = LAB) -> Result:
    """Compile a real config of tests/data with its threshold files, on as many nodes as it names."""
    path = DATA / folder / name
    nodes = 2 if "distributed" in name else 1
    thresholds = {item.name: item.read_bytes() for item in sorted(path.parent.glob("*threshold.json"))}
    values = 'head-node-ip = "10.0.0.1"\n' if nodes > 1 and b"{head-node-ip}" in path.read_bytes() else ""
    return compile_document(
        path.read_bytes(),
        name=name,
        thresholds=thresholds,
        cluster_file=cluster(nodes),
        lab=lab.replace("[set]", f"{values}[set]"),
        profile=profile,
    )


def codes(result: Result, severities: Sequence[str] = ("error", "warning")) -> list[str]:
    """The codes that were found, in order."""
    return [item.code for item in result.diagnostics if item.severity.value in severities]


def _data(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else json.dumps(value, indent=2).encode()
