"""The whole tool against real nodes: compile an example, execute it over SSH in containers, leave nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from .checks import assert_clean
from .cluster import Cluster

pytestmark = pytest.mark.usefixtures("tidy")

REPOSITORY = Path(__file__).resolve().parents[2]
DEMO = REPOSITORY / "examples/demo/mi3xx_atom_demo_single.json"
MODEL = "Qwen/Qwen3-0.6B"
CANARY = "hf_EXAMPLEcanary0001abcdef"
LEASE_S = 10.0


@frozen
class Outcome:
    """One command that has ended."""

    code: int
    out: str
    err: str


@frozen
class Bench:
    """What a user has: files of the lab, and the two commands."""

    cluster: Cluster
    folder: Path
    cluster_path: Path

    def tool(self, name: str, *args: str) -> Outcome:
        argv = self.cluster.launcher([sys.executable, "-m", name, *args])
        env = {**os.environ, "COLUMNS": "200"}
        done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True, timeout=300)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def plan(self, *sets: str, config: Path = DEMO) -> Path:
        path = self.folder / "plan.json"
        options = [word for each in sets for word in ("--set", each)]
        files = ["--cluster", str(self.cluster_path), "--lab", str(self.folder / "lab.toml")]
        made = self.tool("atomcfg", "plan", str(config), *files, *options, "-o", str(path))
        assert made.code == 0, made.err
        return path

    def execute(self, plan: Path, *args: str) -> Outcome:
        return self.tool("atomrun", "execute", str(plan), "--runs", str(self.folder / "runs"), *args)

    @property
    def run_folder(self) -> Path:
        (folder,) = (self.folder / "runs").iterdir()
        return folder

    @property
    def verdicts(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.run_folder / "verdicts.json").read_text())
        return result


@pytest.fixture
def bench(
    cluster: Cluster, cluster_file: Callable[..., Path], lab_file: Callable[..., Path], tmp_path: Path
) -> Iterator[Bench]:
    """Afterwards the nodes are clean, whatever the test did."""
    token = tmp_path / "token"
    token.write_text(CANARY + "\n")
    lab_file(tmp_path, **{"paths.hf_token_file": str(token), "params.num_prompts": 16})
    cluster.add_model(MODEL)
    yield Bench(cluster, tmp_path, cluster_file(tmp_path, 1))
    for node in cluster.nodes:
        assert_clean(node, within=LEASE_S)


def test_compiled_example_runs_over_ssh_in_a_container_and_passes(bench: Bench) -> None:
    done = bench.execute(bench.plan())
    assert done.code == 0, done.err + done.out
    assert bench.verdicts["verdict"] == "PASS"
    assert bench.verdicts["specs_evaluated"] > 50
    assert [cell["state"] for cell in bench.verdicts["cells"]] == ["valid"] * 4


def server_argv(folder: Path) -> list[str]:
    plan = json.loads((folder / "plan.json").read_text())
    tokens = plan["sessions"][0]["ranks"][0]["argv"]
    return [token if isinstance(token, str) else "".join(map(text_of_part, token["parts"])) for token in tokens]


def text_of_part(part: Any) -> str:
    return part if isinstance(part, str) else str(part["value"])
