"""The shipped files: right by the schemas, right by the compiler, and what the inventory says they are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import atomcfg
from atomcfg.diagnostics import Severity
from atomcfg.dialect import dialect_of
from atomcfg.documents import Document, Origin
from atomcfg.metrics import GATED
from atomcfg.passes.check import check

EXAMPLES = Path(__file__).parents[2] / "examples"
CONFIGS = sorted(path.name for path in EXAMPLES.glob("mi3xx_*.json"))
THRESHOLDS = sorted(path.name for path in EXAMPLES.glob("mi325x_*.json"))
DEMO = EXAMPLES / "demo" / "mi3xx_atom_demo_single.json"
LAB = b"""
[values]
changeme-models-mount = "/data/models"
changeme-image = "rocm/atom-dev:latest"
head-node-ip = "192.0.2.10"
worker-node-ip = "192.0.2.11"
"""


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def cluster(nodes: int) -> bytes:
    shipped = read(EXAMPLES / "atom_cluster.json")
    shipped["node_dict"] = dict(list(shipped["node_dict"].items())[:nodes])
    return json.dumps(shipped).encode()


def source(role: str, path: Path) -> atomcfg.Source:
    return atomcfg.Source(role, path.name, path.read_bytes())


def compile_example(
    path: Path, profile: str | None = None, lab: bytes = LAB, nodes: bytes | None = None
) -> atomcfg.Result:
    nodes = nodes or cluster(2 if "distributed" in path.name else 1)
    return atomcfg.compile(
        atomcfg.Sources(
            config=source("config", path),
            cluster=atomcfg.Source("cluster", "cluster.json", nodes),
            lab=atomcfg.Source("lab", "lab.toml", lab),
            thresholds=(source("threshold", path.with_name(read(path)["threshold_json"])),),
        ),
        profile=profile,
        user="tester",
    )


def profiles(name: str) -> list[str | None]:
    return list(read(EXAMPLES / name).get("profiles", {None: {}}))


JOBS = [(name, profile) for name in CONFIGS for profile in profiles(name)]


def test_the_inventory_is_complete() -> None:
    assert [name.removeprefix("mi3xx_atom_").removesuffix(".json") for name in CONFIGS] == [
        "deepseek-r1_fp8_distributed",
        "deepseek-r1_fp8_single",
        "qwen3.5-397b-a17b_fp8_single",
        "sglang_deepseek-r1_fp8_distributed",
        "sglang_deepseek-r1_fp8_single",
        "vllm_deepseek-r1_fp8_single",
        "vllm_gpt-oss-120b_mxfp4_single",
    ]
    assert sorted(read(EXAMPLES / name)["threshold_json"] for name in CONFIGS) == THRESHOLDS
    assert profiles("mi3xx_atom_deepseek-r1_fp8_single.json") == ["perf", "mtp3"]


def schema_of(path: Path, value: Mapping[str, object]) -> str:
    if "threshold" in path.name:
        return "threshold"
    return "cluster" if "cluster" in path.name else f"config-{dialect_of(value)}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.json")), ids=lambda path: path.name)
def test_each_file_names_its_schema_and_keeps_to_it(path: Path) -> None:
    text = path.read_text("utf-8")
    value = json.loads(text)
    schema = (path.parent / value["$schema"]).resolve()
    assert schema.is_file()
    assert schema.name == f"{schema_of(path, value)}.schema.json"
    assert check(Document(value, {(): Origin(path.name, text)}), schema.name.removesuffix(".schema.json")) == ()


@pytest.mark.parametrize(("name", "profile"), JOBS)
def test_each_compiles_with_what_a_lab_supplies(name: str, profile: str | None) -> None:
    result = compile_example(EXAMPLES / name, profile)
    assert [item for item in result.diagnostics if item.severity is Severity.ERROR] == []
    assert result.plan is not None
    assert not result.plan.enforce_thresholds
    assert result.plan.unresolved == ()


# What is wrong with them on purpose: as their upstream has it.
KNOWN = {
    ("sglang_deepseek-r1_fp8_distributed", "A555"),  # one NCCL_IB_GID_INDEX for both nodes
    ("sglang_deepseek-r1_fp8_distributed", "A711"),  # 2K in, 2K out just fills the context
}


@pytest.mark.parametrize(("name", "profile"), JOBS)
def test_they_draw_no_warning_that_is_not_known(name: str, profile: str | None) -> None:
    result = compile_example(EXAMPLES / name, profile)
    stem = name.removeprefix("mi3xx_atom_").removesuffix(".json")
    found = {(stem, item.code) for item in result.diagnostics if item.severity is Severity.WARNING}
    unused = {item for item in found if item[1] == "A304"}  # the lab file above serves all of them
    assert found - unused == {known for known in KNOWN if known[0] == stem}


def test_every_cell_states_every_gated_metric() -> None:
    for name in THRESHOLDS:
        value = read(EXAMPLES / name)
        for body in value.get("profiles", {"": value}).values():
            for key, specs in body.items():
                if "=" in key:
                    assert set(GATED) <= set(specs), (name, key)


@pytest.mark.parametrize(
    ("stem", "profile", "driver", "nodes", "cells", "tasks"),
    [
        ("deepseek-r1_fp8_single", "perf", "atom", 1, 3, 9),
        ("deepseek-r1_fp8_single", "mtp3", "atom", 1, 3, 2),
        ("deepseek-r1_fp8_distributed", None, "vllm_atom", 2, 16, 3),
        ("qwen3.5-397b-a17b_fp8_single", None, "atom", 1, 3, 1),
        ("vllm_deepseek-r1_fp8_single", None, "vllm_atom", 1, 3, 9),
        ("vllm_gpt-oss-120b_mxfp4_single", None, "vllm_atom", 1, 3, 2),
        ("sglang_deepseek-r1_fp8_single", None, "sglang", 1, 3, 9),
        ("sglang_deepseek-r1_fp8_distributed", None, "sglang", 2, 16, 3),
    ],
)
def test_they_are_what_the_inventory_says(
    stem: str, profile: str | None, driver: str, nodes: int, cells: int, tasks: int
) -> None:
    plan = compile_example(EXAMPLES / f"mi3xx_atom_{stem}.json", profile).plan
    assert plan is not None
    facts = (plan.driver, len(plan.nodes), len(plan.cells), len(plan.checks.accuracy))
    assert facts == (driver, nodes, cells, tasks)


def compile_in_demo(path: Path, profile: str | None = None) -> atomcfg.Result:
    """With the demo's lab and cluster file."""
    return compile_example(
        path, profile, *(DEMO.with_name(name).read_bytes() for name in ("lab.toml", "cluster.json"))
    )


def test_the_demo_enforces_and_draws_no_warning() -> None:
    result = compile_in_demo(DEMO)
    assert [item for item in result.diagnostics if item.severity is not Severity.NOTE] == []
    assert result.plan is not None
    assert result.plan.enforce_thresholds
    assert len(result.plan.cells) == 4
    bounds = [spec for cell in result.plan.cells for spec in cell.specs if spec.kind != "info"]
    assert all(spec.enforced and not spec.vacuous for spec in bounds)


@pytest.mark.parametrize("profile", ["perf", "mtp3"])
def test_the_demo_lab_file_serves_the_first_config_too(profile: str) -> None:
    result = compile_in_demo(EXAMPLES / "mi3xx_atom_deepseek-r1_fp8_single.json", profile)
    assert [item for item in result.diagnostics if item.severity is not Severity.NOTE] == []
    assert result.plan is not None
    assert {cell.num_prompts for cell in result.plan.cells} == {512}


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*")), ids=lambda path: path.name)
def test_no_file_names_a_real_place(path: Path) -> None:
    """Shipped files hold no address but documentation's (RFC 5737) and no home but a placeholder's."""
    if path.is_file():
        text = path.read_text("utf-8")
        assert set(re.findall(r"\b\d+\.\d+\.\d+\.\d+\b", text)) <= {"192.0.2.10", "192.0.2.11"}
        assert re.findall(r"/home/(?!\{user-id\})", text) == []
